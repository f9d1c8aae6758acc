// See Options.h and Options.td.
#include "tools/astrac/Options.h"
#include "passes/Phases.h"
#include "passes/Target.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/FileSystem.h"
#include <tuple>

using namespace astra;
using namespace llvm::opt;
using llvm::StringRef;

namespace {
enum OptionId {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "tools/astrac/Options.inc"
#undef OPTION
};

#define OPTTABLE_STR_TABLE_CODE
#include "tools/astrac/Options.inc"
#undef OPTTABLE_STR_TABLE_CODE
#define OPTTABLE_PREFIXES_TABLE_CODE
#include "tools/astrac/Options.inc"
#undef OPTTABLE_PREFIXES_TABLE_CODE

constexpr OptTable::Info optionInfos[] = {
#define OPTION(...) LLVM_CONSTRUCT_OPT_INFO(__VA_ARGS__),
#include "tools/astrac/Options.inc"
#undef OPTION
};

class Table : public GenericOptTable {
public:
  Table() : GenericOptTable(OptionStrTable, OptionPrefixesTable, optionInfos) {}
};

bool complain(const llvm::Twine &text) {
  llvm::errs() << "astrac: " << text << "\n"
               << "astrac: `astrac -h` lists commands and options\n";
  return false;
}

/// A negative number is an argument of `run`, not an option.
bool isNumber(StringRef text) {
  return text.size() > 1 && text[0] == '-' &&
         (llvm::isDigit(text[1]) || text[1] == '.' || text == "-inf" ||
          text == "-nan");
}

bool parseNumber(StringRef text, unsigned least, unsigned most,
                 const char *what, unsigned &number) {
  if (!text.getAsInteger(10, number) && number >= least && number <= most)
    return true;
  return complain("`" + text + "` is no number of " + what + " (" +
                  llvm::Twine(least) + " to " + llvm::Twine(most) + ")");
}

bool readInputs(const InputArgList &args, Options &options) {
  for (const Arg *arg : args) {
    if (arg->getOption().matches(OPT_UNKNOWN) && !isNumber(arg->getSpelling()))
      return complain("unknown option `" + arg->getSpelling() + "`");
    if (arg->getOption().matches(OPT_INPUT) ||
        arg->getOption().matches(OPT_UNKNOWN))
      options.inputs.push_back(arg->getAsString(args));
  }
  if (options.inputs.empty())
    return true;
  const std::pair<const char *, Command> commands[] = {
      {"run", Command::Run},
      {"test", Command::Test},
      {"check", Command::Check}};
  for (auto [name, command] : commands)
    if (options.inputs.front() == name) {
      options.command = command;
      options.inputs.erase(options.inputs.begin());
      break;
    }
  return true;
}

/// Options that mean nothing to the command are refused.
bool checkUse(const InputArgList &args, const Options &options) {
  bool runs = options.command == Command::Run;
  bool tests = options.command == Command::Test;
  bool compiles = options.command == Command::Compile;
  const std::tuple<OptSpecifier, const char *, bool> uses[] = {
      {OPT_o, "-o", runs || compiles},
      {OPT_shared, "-shared", compiles},
      {OPT_emit_EQ, "--emit", compiles},
      {OPT_threads_EQ, "--threads", runs || tests},
      {OPT_cpu_level_EQ, "--cpu-level", runs || tests},
      {OPT_filter_EQ, "--filter", tests},
      {OPT_trace_EQ, "--trace", runs},
      {OPT_profile, "--profile", runs},
      {OPT_stop_at_EQ, "--stop-at", runs || tests},
      {OPT_fuse_EQ, "--fuse", runs || tests || compiles},
      {OPT_batch, "--batch", compiles},
      {OPT_tests, "--tests", compiles && options.shared},
      {OPT_target_EQ, "--target", compiles},
      {OPT_O, "-O", runs || tests || compiles}};
  for (const auto &[id, name, used] : uses)
    if (args.hasArg(id) && !used)
      return complain(llvm::Twine("`") + name +
                      "` means nothing to this command");
  return true;
}

/// The object and its header are two files.
bool checkOutput(const Options &options) {
  StringRef output = options.output;
  if (output == "-")
    return complain("`-o` takes the name of a file");
  if (options.command != Command::Compile || options.shared ||
      !options.emit.empty())
    return true;
  if (output.ends_with(".h"))
    return complain("`" + output +
                    "` is where the header goes; call the object `.o`");
  if (output.ends_with(".so"))
    return complain("`" + output +
                    "` would be an object; for a module give `-shared` too");
  return true;
}

bool checkInputs(const Options &options) {
  size_t count = options.inputs.size();
  switch (options.command) {
  case Command::Run:
    if (!checkOutput(options))
      return false;
    return count >= 2 || complain("`run` takes a file, a function and its "
                                  "arguments: astrac run FILE FN ARG...");
  case Command::Test:
  case Command::Check:
    return count >= 1 || complain("no file is given");
  case Command::Compile:
    if (count == 0)
      return complain("no file is given");
    if (count > 1 && !llvm::StringRef(options.inputs[0]).contains('.'))
      return complain("there is no command `" + options.inputs[0] +
                      "`; there are run, test and check");
    if (count > 1)
      return complain("one file at a time: `" + options.inputs[1] +
                      "` is too many");
    if (options.emit.empty() && options.output.empty())
      return complain("nothing to do: give `-o FILE` or `--emit=PHASE`");
    return checkOutput(options);
  default:
    return true;
  }
}
} // namespace

bool astra::parseOptions(int argc, const char *const *argv, Options &options) {
  Table table;
  unsigned missingIndex = 0, missingCount = 0;
  llvm::ArrayRef<const char *> words(argv, argc);
  options.program = argc ? argv[0] : "astrac";
  InputArgList args = table.ParseArgs(words.drop_front(argc ? 1 : 0),
                                      missingIndex, missingCount);
  if (missingCount)
    return complain("`" + llvm::Twine(args.getArgString(missingIndex)) +
                    "` needs a value");
  if (args.hasArg(OPT_help))
    return options.command = Command::Help, true;
  if (args.hasArg(OPT_version))
    return options.command = Command::Version, true;
  options.explain = args.getLastArgValue(OPT_explain_EQ).str();
  if (args.hasArg(OPT_explain_EQ))
    return options.command = Command::Explain, true;
  options.output = args.getLastArgValue(OPT_o).str();
  options.emit = args.getLastArgValue(OPT_emit_EQ).str();
  options.device = args.getLastArgValue(OPT_device_EQ, "cpu").str();
  options.stdPath = args.getLastArgValue(OPT_std_EQ).str();
  options.filter = args.getLastArgValue(OPT_filter_EQ).str();
  options.trace = args.getLastArgValue(OPT_trace_EQ).str();
  options.profile = args.hasArg(OPT_profile);
  options.stopAt = args.getLastArgValue(OPT_stop_at_EQ).str();
  options.shared = args.hasArg(OPT_shared);
  options.batch = args.hasArg(OPT_batch);
  options.tests = args.hasArg(OPT_tests);
  options.cpuLevel = args.getLastArgValue(OPT_cpu_level_EQ).str();
  for (unsigned id :
       {OPT_o, OPT_emit_EQ, OPT_std_EQ, OPT_cpu_level_EQ, OPT_trace_EQ})
    if (args.hasArg(id) && args.getLastArgValue(id).empty())
      return complain("`" + args.getLastArg(id)->getSpelling() +
                      "` needs a value");
  if (args.hasArg(OPT_stop_at_EQ) &&
      !llvm::is_contained({"nan", "inf", "both"}, options.stopAt))
    return complain("`--stop-at=" + options.stopAt +
                    "` is none of nan, inf and both");
  if (!llvm::is_contained({"", "ref", "v3", "v4"}, options.cpuLevel))
    return complain("there is no level `" + options.cpuLevel +
                    "`: ref, v3 or v4");
  options.target = args.getLastArgValue(OPT_target_EQ).str();
  if (args.hasArg(OPT_target_EQ) && !findTarget(options.target))
    return complain("there is no target `" + options.target +
                    "`: " + getTargetNames());
  StringRef fuse = args.getLastArgValue(OPT_fuse_EQ, "on");
  if (fuse != "on" && fuse != "off")
    return complain("`--fuse=" + fuse + "` is neither on nor off");
  options.fuse = fuse == "on";
  if (!options.stdPath.empty() && !llvm::sys::fs::is_directory(options.stdPath))
    return complain("`" + options.stdPath +
                    "` is no folder of a standard library");
  if (options.device != "cpu" && options.device != "cpu:0")
    return complain("this release makes code for `cpu` only, not for `" +
                    options.device + "`");
  if (!parseNumber(args.getLastArgValue(OPT_O, "2"), 0, 2, "the -O levels",
                   options.optimisation) ||
      !parseNumber(args.getLastArgValue(OPT_threads_EQ, "1"), 1, 4096,
                   "threads", options.threads))
    return false;
  return readInputs(args, options) && checkUse(args, options) &&
         checkInputs(options);
}

void astra::printHelp(llvm::raw_ostream &os) {
  os << "USAGE: astrac FILE -o OUT.o          compile to an object, with a C "
        "header beside it\n"
        "       astrac -shared FILE -o OUT.so compile to a module to be "
        "loaded\n"
        "       astrac run FILE FN ARG...     call a function (.npy files or "
        "literals)\n"
        "       astrac test FILE|FOLDER...    run the test blocks\n"
        "       astrac check FILE...          report errors only\n"
        "       astrac --emit=PHASE FILE      print an intermediate form\n\n";
  std::string options;
  llvm::raw_string_ostream stream(options);
  Table().printHelp(stream, "", "");
  // The table's own title and usage lines are above already.
  StringRef text = options;
  size_t first = text.find("CODE:");
  os << (first == StringRef::npos ? text : text.drop_front(first));
  os << "\nPHASES:\n";
  for (const PhaseInfo &info : getPhases())
    os << "  " << llvm::left_justify(info.name, 24) << info.doc << "\n";
  os << "\nEXIT STATUS: 0 if all went well, 1 if the program has an error or a "
        "test failed,\n             2 if the command line makes no sense\n";
}
