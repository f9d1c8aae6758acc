// See Options.h. One table of options, which the help is printed from.
#include "tools/astra-bits/Options.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

using namespace astra;

namespace {
bool complain(const std::string &text) {
  std::fprintf(
      stderr, "astra-bits: %s\nastra-bits: `astra-bits -h` lists the options\n",
      text.c_str());
  return false;
}

bool readNumber(const std::string &text, uint64_t least, uint64_t most,
                uint64_t &number) {
  char *end = nullptr;
  if (text.empty() || text[0] < '0' || text[0] > '9')
    return false;
  number = std::strtoull(text.c_str(), &end, 10);
  return *end == 0 && number >= least && number <= most;
}

Words split(const std::string &text) {
  Words words;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

/// A list of words out of a known set.
bool readList(const char *name, const std::string &text, const Words &known,
              Words &list) {
  list = split(text);
  for (const std::string &word : list)
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      std::string all;
      for (const std::string &each : known)
        all += (all.empty() ? "" : ", ") + each;
      return complain("`" + word + "` is not one of " + name + ": " + all);
    }
  return true;
}

bool readThreads(const std::string &text, Words &list) {
  list = split(text);
  for (const std::string &word : list)
    if (uint64_t number; !readNumber(word, 1, 4096, number))
      return complain("`" + word + "` is no number of threads (1 to 4096)");
  return true;
}

bool readPair(const char *name, const std::string &text, Pairs &pairs) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return complain("`" + std::string(name) + " " + text +
                    "` is not of the form NAME=VALUE");
  pairs.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  return true;
}

bool readDim(const std::string &text, Pairs &pairs) {
  uint64_t number;
  return readPair("--dim", text, pairs) &&
         (readNumber(pairs.back().second, 0, INT64_MAX, number) ||
          complain("`" + pairs.back().second + "` is no extent"));
}

template <class T>
bool readCount(const char *name, const std::string &text, uint64_t least,
               uint64_t most, T &count) {
  uint64_t number;
  if (!readNumber(text, least, most, number))
    return complain("`" + std::string(name) + "=" + text + "`: a number from " +
                    std::to_string(least) + " to " + std::to_string(most) +
                    " is expected");
  count = T(number);
  return true;
}

struct Row {
  const char *name;  // "--dim"
  const char *value; // "<name>=<n>", or null for a flag
  const char *doc;   // null: of a worker
  std::function<bool(const std::string &)> read;
};

std::vector<Row> getRows(Options &o) {
  auto text = [](std::string &to) {
    return [&to](const std::string &from) {
      to = from;
      return true;
    };
  };
  auto flag = [](bool &to, bool value) {
    return [&to, value](const std::string &) {
      to = value;
      return true;
    };
  };
  auto module = [&o](bool batched, bool tests) {
    return [&o, batched, tests](const std::string &from) {
      o.modules.push_back({from, batched, tests});
      return true;
    };
  };
  auto list = [](const char *name, Words known, Words &to) {
    return [=, &to](const std::string &from) {
      return readList(name, from, known, to);
    };
  };
  return {
      {"--export", "<name>", "Only this function (may be repeated)",
       [&](const std::string &from) {
         return o.exports.push_back(from), true;
       }},
      {"--dim", "<name>=<n>",
       "The value of a dimension, f.n for one of f (by default several are "
       "tried)",
       [&](const std::string &from) { return readDim(from, o.dims); }},
      {"--input", "<path>=<value>",
       "A .npy file, or a number for a scalar, for an input (by default they "
       "are made)",
       [&](const std::string &from) {
         return readPair("--input", from, o.inputs);
       }},
      {"--seed", "<n>", "Seed of the inputs that are made (default 1)",
       [&](const std::string &from) {
         return readCount("--seed", from, 0, UINT64_MAX, o.seed);
       }},
      {"--size", "<list>", "Dimensions to choose: small, large (default both)",
       list("the sizes", {"small", "large"}, o.sizes)},
      {"--threads", "<list>", "Numbers of threads (default 1,2,3,7)",
       [&](const std::string &from) { return readThreads(from, o.threads); }},
      {"--levels", "<list>",
       "Processor levels: ref, v3, v4, neon (default all that can run here)",
       list("the levels", {"ref", "v3", "v4", "neon"}, o.levels)},
      {"-O", "<list>", "Levels of optimisation (default 0,1,2)",
       list("the -O levels", {"0", "1", "2"}, o.optimisations)},
      {"--fuse", "<list>", "Fused kernels: on, off (default both)",
       list("the settings of --fuse", {"on", "off"}, o.fusing)},
      {"--rows", "<n>", "Sets of inputs, and rows of the batch (default 3)",
       [&](const std::string &from) {
         return readCount("--rows", from, 1, 64, o.rows);
       }},
      {"--no-batch", nullptr, "Leave out the exports inside a larger batch",
       flag(o.batch, false)},
      {"--quick", nullptr,
       "Each value of each setting at least once, not all combinations",
       flag(o.quick, true)},
      {"--budget", "<seconds>",
       "For each function, size and test on each processor: what needs more "
       "runs in fewer configurations, two at each level at least (default: no "
       "limit)",
       [&](const std::string &from) {
         return readCount("--budget", from, 0, 1000000, o.budget);
       }},
      {"--timeout", "<seconds>", "For all calls of one build (default 600)",
       [&](const std::string &from) {
         return readCount("--timeout", from, 1, 1000000, o.timeout);
       }},
      {"--astrac", "<file>", "The compiler (default: beside this program)",
       text(o.astrac)},
      {"--arm", "<file>",
       "astra-bits for 64-bit Arm, run under qemu-aarch64 (default: that of "
       "build-aarch64)",
       text(o.arm)},
      {"--json", nullptr, "Print the result as JSON", flag(o.json, true)},
      {"--help", nullptr, "Print this", flag(o.help, true)},
      {"-h", nullptr, nullptr, flag(o.help, true)},
      {"--module", "", nullptr, module(false, false)},
      {"--batched-module", "", nullptr, module(true, false)},
      {"--test-module", "", nullptr, module(false, true)},
      {"--spare", "", nullptr, text(o.spare)},
      {"--run", "", nullptr,
       [&](const std::string &from) { return o.runs = split(from), true; }},
      {"--store", "", nullptr, text(o.store)},
  };
}

/// `--name=value`, `--name value`, `-O0,2`, or a flag.
bool readOption(const std::vector<Row> &rows, const Words &words, size_t &at) {
  const std::string &word = words[at];
  for (const Row &row : rows) {
    size_t length = std::strlen(row.name);
    if (word.compare(0, length, row.name) != 0)
      continue;
    std::string rest = word.substr(length);
    if (!row.value && rest.empty())
      return row.read("");
    if (!row.value)
      continue;
    bool isShort = row.name[1] != '-';
    if (!rest.empty() && rest[0] != '=' && !isShort)
      continue;
    if (!rest.empty())
      return row.read(rest[0] == '=' ? rest.substr(1) : rest);
    if (at + 1 == words.size())
      return complain("`" + word + "` needs a value");
    return row.read(words[++at]);
  }
  return complain("unknown option `" + word + "`");
}
} // namespace

bool astra::parseOptions(int argc, char **argv, Options &options) {
  Words words(argv + (argc ? 1 : 0), argv + argc);
  options.program = argc ? argv[0] : "astra-bits";
  std::vector<Row> rows = getRows(options);
  for (size_t at = 0; at < words.size(); ++at) {
    if (words[at].size() > 1 && words[at][0] == '-') {
      if (!readOption(rows, words, at))
        return false;
    } else if (options.file.empty()) {
      options.file = words[at];
    } else {
      return complain("one file at a time: `" + words[at] + "` is too many");
    }
  }
  if (options.help || !options.modules.empty())
    return true;
  return !options.file.empty() || complain("no file is given");
}

void astra::printHelp() {
  std::printf(
      "USAGE: astra-bits FILE [OPTIONS]\n\n"
      "Compiles an Astra program in every way, runs each exported function and "
      "each test\nblock under every configuration, and compares the bits of "
      "all "
      "results. Where all\nagree the last line is their one SHA-256; else a "
      "table says which differ, and in\nwhich element first.\n\nOPTIONS:\n");
  Options options;
  for (const Row &row : getRows(options)) {
    if (!row.doc)
      continue;
    std::string name = row.name;
    if (row.value)
      name += (name == "-O" ? "" : "=") + std::string(row.value);
    std::printf("  %-24s %s\n", name.c_str(), row.doc);
  }
  std::printf("\nEXIT STATUS: 0 if all bits agree, 1 if some differ, every "
              "computation is an error\n             or the program has an "
              "error, 2 if the command line makes no sense\n");
}
