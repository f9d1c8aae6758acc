// What runs a module: each of its functions with inputs that are made, for a
// list of levels and numbers of threads. Prints one line for each result; the
// lines of different workers are compared by Comparison.h. Uses the public C
// API only, so that it is built for any architecture without the compiler.
#ifndef ASTRA_TOOLS_ASTRA_BITS_WORKER_H
#define ASTRA_TOOLS_ASTRA_BITS_WORKER_H

#include "tools/astra-bits/Options.h"

namespace astra {

// Lines are fields between tabs:
//   result LEVEL THREADS KEY HASH STATUS   STATUS is "ok" or an error's
//   sentence linalg KERNEL                          outside the promise across
//   processors note SENTENCE                          of what was left out
//   failed SENTENCE                        nothing could be run
constexpr char ResultLine[] = "result", LinalgLine[] = "linalg",
               NoteLine[] = "note", FailedLine[] = "failed";

int runWorker(const Options &options);

} // namespace astra
#endif // ASTRA_TOOLS_ASTRA_BITS_WORKER_H
