// See Process.h.
#include "tools/astra-bits/Process.h"
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace astra;

namespace {
/// In the child: never returns.
[[noreturn]] void become(const std::vector<std::string> &words, int out,
                         int err) {
  std::vector<char *> arguments;
  for (const std::string &word : words)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, 0);
  dup2(out, 1);
  dup2(err, 2);
  execvp(arguments[0], arguments.data());
  const char *why = std::strerror(errno);
  if (write(2, why, std::strlen(why)) < 0)
    _exit(126);
  _exit(127);
}

/// Reads both pipes until they are closed; false when time is up.
bool readAll(int (&pipes)[2], std::string (&texts)[2], unsigned seconds,
             const Watch &watch) {
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  pollfd waits[2] = {{pipes[0], POLLIN, 0}, {pipes[1], POLLIN, 0}};
  auto next = std::chrono::steady_clock::now();
  while (waits[0].fd >= 0 || waits[1].fd >= 0) {
    if (watch && std::chrono::steady_clock::now() >= next) {
      watch(texts[0]);
      next = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    }
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                    end - std::chrono::steady_clock::now())
                    .count();
    if (left <= 0)
      return false;
    if (poll(waits, 2, int(left > 1000 ? 1000 : left)) < 0)
      continue;
    for (int i = 0; i < 2; ++i) {
      char buffer[65536];
      if (waits[i].fd < 0 || !waits[i].revents)
        continue;
      ssize_t count = read(waits[i].fd, buffer, sizeof buffer);
      if (count > 0)
        texts[i].append(buffer, size_t(count));
      else
        waits[i].fd = -1;
    }
  }
  return true;
}
} // namespace

Finished astra::runProgram(const std::vector<std::string> &words,
                           unsigned seconds, const Watch &watch) {
  Finished finished;
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)) {
    finished.problem = std::strerror(errno);
    return finished;
  }
  pid_t child = fork();
  if (child == 0)
    become(words, out[1], err[1]);
  close(out[1]);
  close(err[1]);
  int pipes[2] = {out[0], err[0]};
  std::string texts[2];
  bool inTime = child > 0 && readAll(pipes, texts, seconds, watch);
  if (child > 0 && !inTime)
    kill(child, SIGKILL);
  close(out[0]);
  close(err[0]);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child)
    finished.problem = std::strerror(errno);
  else if ((finished.isLate = !inTime))
    finished.problem = "it did not end in " + std::to_string(seconds) + " s";
  else if (WIFSIGNALED(status))
    finished.problem =
        std::string("it was ended by a signal: ") + strsignal(WTERMSIG(status));
  else
    finished.status = WEXITSTATUS(status);
  finished.output = std::move(texts[0]);
  finished.errors = std::move(texts[1]);
  return finished;
}

std::string astra::folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

bool astra::isProgram(const std::string &path) {
  struct stat about;
  return access(path.c_str(), X_OK) == 0 && stat(path.c_str(), &about) == 0 &&
         S_ISREG(about.st_mode);
}

std::string astra::findProgram(const std::string &name) {
  const char *variable = std::getenv("PATH");
  std::string folders = variable ? variable : "";
  for (size_t begin = 0; begin <= folders.size();) {
    size_t end = folders.find(':', begin);
    end = end == std::string::npos ? folders.size() : end;
    std::string path = folders.substr(begin, end - begin) + "/" + name;
    if (isProgram(path))
      return path;
    begin = end + 1;
  }
  return "";
}

TemporaryFiles::TemporaryFiles() {
  const char *variable = std::getenv("TMPDIR");
  std::string pattern = std::string(variable && *variable ? variable : "/tmp") +
                        "/astra-bits-XXXXXX";
  if (mkdtemp(pattern.data()))
    folder = pattern;
}

TemporaryFiles::~TemporaryFiles() {
  for (const std::string &file : files)
    unlink(file.c_str());
  if (isValid())
    rmdir(folder.c_str());
}

std::string TemporaryFiles::add(const std::string &ending) {
  files.push_back(folder + "/" + std::to_string(files.size()) + ending);
  return files.back();
}
