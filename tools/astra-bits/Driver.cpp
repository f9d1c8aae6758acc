// See Driver.h. The first build is the one that all results are compared with:
// not optimised, not fused, at the lowest level.
#include "tools/astra-bits/Driver.h"
#include "astra/astra.h"
#include "tools/astra-bits/Worker.h"
#include "tools/astrac/Session.h"
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <unistd.h>

using namespace astra;

bool Driver::complain(const std::string &text) const {
  std::fprintf(stderr, "astra-bits: error: %s\n", text.c_str());
  return false;
}

//===-- What can run here -------------------------------------------------===//

static std::string folderOfThisProgram() {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? folderOf(std::string(path, size_t(length))) : ".";
}

/// An astra-bits for Arm and something to run it; else why there is none.
bool Driver::findArm(std::string &why) {
  std::string program = options.arm;
  if (program.empty())
    program = folderOfThisProgram() + "/../../build-aarch64/bin/astra-bits";
  std::string qemu = findProgram("qemu-aarch64");
  if (qemu.empty())
    why = "qemu-aarch64 (package qemu-user) is not installed";
  else if (!isProgram(program))
    why = "there is no " + program + " (cmake --preset aarch64, then build it)";
  else
    machine.armCommand = {qemu, "-L", "/usr/aarch64-linux-gnu", program};
  return why.empty();
}

bool Driver::findMachine() {
  uint32_t best = astra_cpu_level();
  for (const std::string &level : options.levels) {
    uint32_t number = level == "v3"   ? ASTRA_CPU_X86_64_V3
                      : level == "v4" ? ASTRA_CPU_X86_64_V4
                                      : ASTRA_CPU_NEON;
    bool isArm = best == ASTRA_CPU_NEON;
    bool isHere = level == "ref" || number == best ||
                  (!isArm && level == "v3" && best > number);
    std::string why;
    if (isHere)
      machine.native.push_back(level);
    else if (level == "neon" && findArm(why))
      machine.arm = {"neon"};
    else
      machine.missing.emplace_back(level,
                                   why.empty() ? "not this processor's" : why);
  }
  // Arm has a reference of its own.
  if (!machine.arm.empty() && !machine.native.empty() &&
      machine.native.front() == "ref")
    machine.arm.insert(machine.arm.begin(), "ref");
  return !machine.native.empty() || !machine.arm.empty() ||
         complain("none of the levels can run here");
}

//===-- Builds ------------------------------------------------------------===//

static std::string readFile(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// Code does not know how it was optimised: files of the same bytes give the
/// same results, so that one of them is enough.
size_t Driver::findSame(const Build &build) const {
  std::string bytes = readFile(build.module);
  for (size_t i = 0; i < builds.size(); ++i)
    if (builds[i].arm == build.arm && builds[i].batched == build.batched &&
        builds[i].tests == build.tests && builds[i].sameAs == i &&
        !bytes.empty() && readFile(builds[i].module) == bytes)
      return i;
  return builds.size();
}

size_t Driver::countSame() const {
  size_t count = 0;
  for (size_t i = 0; i < builds.size(); ++i)
    count += builds[i].sameAs != i;
  return count;
}

/// Has the program any test block? The file itself says so.
bool Driver::hasTests(const Build &build) {
  Session session;
  return !session.open(1, "ref") || !session.inspect(build.module) ||
         session.getFunctionCount() > 0;
}

bool Driver::addBuild(Build build) {
  std::string astrac = options.astrac;
  if (astrac.empty())
    astrac = folderOfThisProgram() + "/astrac";
  if (!isProgram(astrac))
    return complain("there is no compiler " + astrac + "; give --astrac=FILE");
  build.module = files.add(".so");
  Words words = {astrac,
                 "-shared",
                 options.file,
                 "-o",
                 build.module,
                 "-O" + build.optimisation,
                 "--fuse=" + build.fuse};
  if (build.arm)
    words.push_back("--target=aarch64-linux-gnu");
  if (build.batched)
    words.push_back("--batch");
  if (build.tests)
    words.push_back("--tests");
  Finished done = runProgram(words, options.timeout);
  if (done.status == 0) {
    build.sameAs = findSame(build);
    builds.push_back(std::move(build));
    return true;
  }
  // A program without maps of its own may have what cannot be mapped.
  if (build.batched) {
    notes.push_back("not in a batch: " +
                    done.errors.substr(0, done.errors.find('\n')));
    return false;
  }
  std::fprintf(stderr, "%s", done.errors.c_str());
  return complain("`" + options.file + "` does not compile (" +
                  build.getName() + ")" +
                  (done.problem.empty() ? "" : ": " + done.problem));
}

/// All ways to compile, or with --quick enough for each setting to occur.
bool Driver::addBuilds(bool arm, bool batched, bool tests) {
  size_t fused = options.fusing.size(), all = options.optimisations.size();
  for (size_t i = 0; i < all * fused; ++i) {
    Build build;
    size_t o = options.quick ? i : i / fused;
    if (options.quick && i >= std::max(all, fused))
      break;
    build.optimisation = options.optimisations[o % all];
    build.fuse = options.fusing[(fused - 1 + i) % fused];
    build.arm = arm;
    build.batched = batched;
    build.tests = tests;
    if (!addBuild(build))
      return batched;
    // What has no test at one level has none at any.
    if (tests && !hasTests(builds.back()))
      return builds.pop_back(), true;
  }
  return true;
}

static std::string join(const Words &words) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : ",") + word;
  return text;
}

/// Levels with numbers of threads, "v3:7". Kernels of the reference use no
/// threads; only what has no kernel for a level does (fused blocks, linear
/// algebra). So the ends of the list are enough for it, and one of them where
/// an emulator runs it.
Words Driver::getRuns(bool arm) const {
  Words runs;
  const Words &threads = options.threads;
  for (const std::string &level : arm ? machine.arm : machine.native)
    for (size_t i = 0; i < threads.size(); ++i) {
      bool isLast = i + 1 == threads.size();
      if (level != "ref" || isLast || (i == 0 && !arm))
        runs.push_back(level + ":" + threads[i]);
    }
  return runs;
}

Words Driver::getWorker(const std::vector<size_t> &modules, bool arm) const {
  Words words =
      arm ? machine.armCommand : Words{folderOfThisProgram() + "/astra-bits"};
  words.insert(words.end(),
               {"--store", resultsFile, "--rows", std::to_string(options.rows),
                "--seed", std::to_string(options.seed), "--size",
                join(options.sizes), "--run", join(getRuns(arm))});
  for (const std::string &name : options.exports)
    words.insert(words.end(), {"--export", name});
  for (const auto &[name, value] : options.dims)
    words.insert(words.end(), {"--dim", name + "=" + value});
  for (const auto &[name, value] : options.inputs)
    words.insert(words.end(), {"--input", name + "=" + value});
  words.insert(words.end(), {"--budget", std::to_string(options.budget)});
  // The processor itself has the reference already.
  if (arm && !machine.native.empty())
    words.insert(words.end(), {"--spare", "ref"});
  for (size_t index : modules) {
    const Build &build = builds[index];
    words.insert(words.end(), {build.batched ? "--batched-module"
                               : build.tests ? "--test-module"
                                             : "--module",
                               build.module});
  }
  return words;
}

/// The last line of this kind in what a worker has printed, without its name.
static std::string findLast(const std::string &output, const char *kind) {
  std::string mark = std::string(kind) + "\t";
  size_t at = output.rfind("\n" + mark);
  if (at == std::string::npos && output.compare(0, mark.size(), mark) != 0)
    return "";
  size_t begin = (at == std::string::npos ? 0 : at + 1) + mark.size();
  return output.substr(begin, output.find('\n', begin) - begin);
}

/// Says every tenth second what a worker is at.
void Driver::showProgress(const std::vector<size_t> &modules, bool arm,
                          const std::string &output) {
  auto now = std::chrono::steady_clock::now();
  if (now - shown < std::chrono::seconds(10))
    return;
  shown = now;
  std::string at = findLast(output, AtLine);
  size_t index =
      size_t(std::strtoull(findLast(output, BuildLine).c_str(), nullptr, 10));
  if (!at.empty() && index < modules.size())
    std::fprintf(stderr, "astra-bits: now %s%s, %s\n",
                 arm ? "under qemu, " : "",
                 builds[modules[index]].getName().c_str(), at.c_str());
}

/// Runs those from `first` on, which are for one processor, in one process.
bool Driver::runBuilds(size_t first, bool arm) {
  std::vector<size_t> modules;
  for (size_t i = first; i < builds.size(); ++i)
    if (builds[i].sameAs == i)
      modules.push_back(i);
  if (modules.empty())
    return true;
  shown = std::chrono::steady_clock::now();
  Finished done = runProgram(
      getWorker(modules, arm), options.timeout * unsigned(modules.size()),
      [&](const std::string &text) { showProgress(modules, arm, text); });
  std::string error;
  size_t last = first;
  bool good = comparison.add(builds, modules, done.output, last, error);
  if (!done.problem.empty())
    error = done.problem;
  if (done.isLate)
    error += " (" + std::to_string(modules.size()) + " builds of " +
             std::to_string(options.timeout) +
             " s, --timeout); --budget=SECONDS leaves configurations of what "
             "takes long out";
  if (good && error.empty() && done.status == 0 && store.update())
    return true;
  return complain("running `" + options.file + "` (" + builds[last].getName() +
                  (arm ? ", under qemu" : "") +
                  "): " + (error.empty() ? done.errors : error));
}

/// Why a function that is there, or any if it has no name, was not run.
std::string Driver::whyNot(const std::string &name) const {
  std::string begin = name.empty() ? "" : name + " ";
  for (const std::string &note : comparison.getNotes())
    if (note.compare(0, begin.size(), begin) == 0)
      return " that could be run: " + note;
  return "";
}

int Driver::run() {
  if (!files.isValid() || !store.open(resultsFile = files.add(".results")))
    return complain("no temporary folder can be made"), 1;
  if (!findMachine())
    return 1;
  for (bool arm : {false, true}) {
    // Linear algebra is the same on one architecture only.
    if ((arm ? machine.arm : machine.native).empty())
      continue;
    if (arm && !comparison.getLinalg().empty()) {
      machine.missing.emplace_back(
          "neon", *comparison.getLinalg().begin() +
                      " is linear algebra, whose bits are those of one "
                      "architecture");
      continue;
    }
    bool wantsTests = options.exports.empty();
    size_t first = builds.size();
    if (!addBuilds(arm, false, false) ||
        (wantsTests && !addBuilds(arm, false, true)) ||
        (options.batch && !addBuilds(arm, true, false)) ||
        !runBuilds(first, arm))
      return 1;
  }
  for (const std::string &name : options.exports)
    if (!comparison.hasFunction(name))
      return complain("`" + options.file + "` has no export `" + name + "`" +
                      whyNot(name)),
             1;
  if (comparison.getKeyCount() == 0)
    return complain("`" + options.file +
                    "` has nothing to run: no export and no test" + whyNot("")),
           1;
  return report();
}
