// astra-prof: where the time of a function goes, kernel by kernel, against what
// the machine can do. Everything comes through the public C API.
#include "tools/common/Arguments.h"
#include "tools/common/Profile.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace astra;

namespace {

constexpr const char *help =
    "Usage: astra-prof [options] MODULE FUNCTION [NAME=VALUE]...\n"
    "\n"
    "Calls a function of a module made by astrac -shared and prints where its\n"
    "time goes. NAME is a dimension (n=512), or an input by its path: its "
    "value\n"
    "is a number, or a .npy file. What is not stated is made up.\n"
    "\n"
    "  --calls=N      calls to measure, after one to warm up (default 10)\n"
    "  --rows=N       kernels to show (default 20)\n"
    "  --threads=N    threads to compute with (default 1)\n"
    "  --trace=FILE   write a Chrome trace as well, for Perfetto\n"
    "  -h, --help     print this\n"
    "  --version      print the version of the runtime\n"
    "\n"
    "Exit status: 0, 1 for an error of the module or the call, 2 for a "
    "command\n"
    "line that makes no sense.\n";

struct Command {
  unsigned long calls = 10, rows = 20, threads = 1;
  std::string trace, module, function;
  std::vector<std::string> words;
};

int complain(const std::string &why) {
  std::fprintf(stderr, "astra-prof: error: %s\n", why.c_str());
  return 1;
}

int misuse(const std::string &why) {
  std::fprintf(stderr, "astra-prof: error: %s; see astra-prof --help\n",
               why.c_str());
  return 2;
}

/// Reads "--name=NUMBER" into `value`.
bool readOption(const char *word, const char *name, unsigned long &value) {
  size_t length = std::strlen(name);
  if (std::strncmp(word, name, length) != 0)
    return false;
  char *end = nullptr;
  value = std::strtoul(word + length, &end, 10);
  return end != word + length && !*end && value >= 1 && value <= 1000000;
}

/// False with a sentence.
bool readCommand(int argc, char **argv, Command &command, std::string &why) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    const char *word = argv[i];
    bool isTrace = std::strncmp(word, "--trace=", 8) == 0 && word[8];
    if (isTrace) {
      command.trace = word + 8;
    } else if (word[0] != '-') {
      words.push_back(word);
    } else if (!readOption(word, "--calls=", command.calls) &&
               !readOption(word, "--rows=", command.rows) &&
               !readOption(word, "--threads=", command.threads)) {
      why = std::string("the option `") + word +
            "` is unknown or wants a number from 1 to 1000000";
      return false;
    }
  }
  if (words.size() < 2) {
    why = "a module and a function are wanted";
    return false;
  }
  command.module = words[0];
  command.function = words[1];
  command.words.assign(words.begin() + 2, words.end());
  return true;
}

/// Calls once, and waits for the stream and all results.
Done callOnce(const Function &function, const Stream &stream,
              const std::vector<Function::Input> &inputs) {
  Result<std::vector<Tensor>> results = function.call(stream, inputs);
  if (!results)
    return results.error();
  return stream.wait();
}

int profile(const Command &command) {
  astra_runtime_options_t options;
  ASTRA_INIT(RUNTIME_OPTIONS, &options);
  options.threads = uint32_t(command.threads);
  Result<Runtime> runtime = Runtime::create(&options);
  if (!runtime)
    return complain(runtime.error().what());
  Result<Device> device = runtime->device();
  if (!device)
    return complain(device.error().what());
  Result<Stream> stream = runtime->stream(*device);
  Result<Module> module = runtime->load(command.module);
  if (!stream || !module)
    return complain((stream ? module.error() : stream.error()).what());
  Result<Function> function = module->function(command.function);
  if (!function)
    return complain(function.error().what());
  std::vector<Tensor> tensors;
  std::string why;
  if (!makeInputs(*device, *function, command.words, tensors, why))
    return complain(why);
  std::vector<Function::Input> inputs(tensors.begin(), tensors.end());

  Done done = callOnce(*function, *stream, inputs);
  if (done)
    done = stream->trace(true);
  for (unsigned long i = 0; done && i < command.calls; ++i)
    done = callOnce(*function, *stream, inputs);
  if (done && !command.trace.empty())
    done = runtime->saveTrace(command.trace);
  if (!done)
    return complain(done.error().what());
  Result<Profile> sums = readProfile(runtime->get());
  if (!sums)
    return complain(sums.error().what());
  Peak peak = measurePeak(unsigned(command.threads));
  std::fputs(toTable(*sums, peak, command.rows).c_str(), stdout);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "-h") || !std::strcmp(argv[i], "--help"))
      return std::fputs(help, stdout), 0;
    if (!std::strcmp(argv[i], "--version"))
      return std::printf("astra-prof %s\n", astra_version_text()), 0;
  }
  Command command;
  std::string why;
  if (!readCommand(argc, argv, command, why))
    return misuse(why);
  return profile(command);
}
