// See Driver.h. The first build is the one that all results are compared with:
// not optimised, not fused, at the lowest level.
#include "tools/astra-bits/Driver.h"
#include "astra/astra.h"
#include "tools/astra-bits/Worker.h"
#include <algorithm>
#include <cstdio>
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
  }
  return true;
}

static std::string join(const Words &words) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : ",") + word;
  return text;
}

Words Driver::getWorker(const Build &build) const {
  Words words = build.arm ? machine.armCommand
                          : Words{folderOfThisProgram() + "/astra-bits"};
  words.insert(words.end(),
               {"--worker", build.module, "--rows",
                std::to_string(options.rows), "--seed",
                std::to_string(options.seed), "--size", join(options.sizes)});
  for (const std::string &name : options.exports)
    words.insert(words.end(), {"--export", name});
  for (const auto &[name, value] : options.dims)
    words.insert(words.end(), {"--dim", name + "=" + value});
  for (const auto &[name, value] : options.inputs)
    words.insert(words.end(), {"--input", name + "=" + value});
  if (build.batched)
    words.push_back("--batched");
  return words;
}

bool Driver::runBuild(size_t index) {
  const Build &build = builds[index];
  Words words = getWorker(build);
  words.insert(words.end(),
               {"--levels", join(build.arm ? machine.arm : machine.native),
                "--threads", join(options.threads)});
  Finished done = runProgram(words, options.timeout);
  std::string error = done.problem;
  if (error.empty() && comparison.add(builds, index, done.output, error) &&
      done.status == 0)
    return true;
  return complain("running `" + options.file + "` (" + build.getName() +
                  (build.arm ? ", under qemu" : "") +
                  "): " + (error.empty() ? done.errors : error));
}

int Driver::run() {
  if (!files.isValid())
    return complain("no temporary folder can be made"), 1;
  if (!findMachine())
    return 1;
  size_t next = 0;
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
    if (!addBuilds(arm, false, false) ||
        (wantsTests && !addBuilds(arm, false, true)) ||
        (options.batch && !addBuilds(arm, true, false)))
      return 1;
    for (; next < builds.size(); ++next)
      if (!runBuild(next))
        return 1;
  }
  for (const std::string &name : options.exports)
    if (!comparison.hasFunction(name))
      return complain("`" + options.file + "` has no export `" + name +
                      "`, or it could not be run"),
             1;
  if (comparison.getKeyCount() == 0)
    return complain("`" + options.file +
                    "` has nothing to run: no export and no test"),
           1;
  return report();
}
