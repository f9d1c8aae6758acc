// astra-bits: does a program give the same bits everywhere? The driver is in
// Driver.h, what it starts for each processor in Worker.h.
#include "tools/astra-bits/Driver.h"
#include "tools/astra-bits/Worker.h"

using namespace astra;

int main(int argc, char **argv) {
  Options options;
  if (!parseOptions(argc, argv, options))
    return 2;
  if (options.help)
    return printHelp(), 0;
  return options.modules.empty() ? Driver(options).run() : runWorker(options);
}
