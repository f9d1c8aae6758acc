// See Files.h.
#include "tools/astrac/Files.h"
#include "frontend/syntax/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <set>
#include <unistd.h>

using namespace astra;
using llvm::StringRef;
namespace fs = llvm::sys::fs;

static constexpr uint64_t MostBytes = 16u << 20;
/// What was read as a source, which nothing is written over.
static std::set<fs::UniqueID> sources;
/// Between a file's name and the number of the process that writes it.
static constexpr char TemporaryMark[] = ".astrac-";

void astra::printFileError(bool reading, StringRef path, StringRef why) {
  DiagCode code =
      reading ? DiagCode::cannot_read_file : DiagCode::cannot_write_file;
  llvm::errs() << "astrac: error[" << getCodeText(code) << "]: cannot "
               << (reading ? "read" : "write") << " `" << path << "`: " << why
               << "\n";
}

std::optional<std::string> astra::readSource(StringRef path) {
  fs::file_status status;
  if (std::error_code error = fs::status(path, status))
    return printFileError(true, path, error.message()), std::nullopt;
  if (fs::is_directory(status))
    return printFileError(true, path, "it is a folder"), std::nullopt;
  if (status.getSize() > MostBytes) {
    llvm::errs() << "astrac: error[" << getCodeText(DiagCode::file_too_large)
                 << "]: `" << path << "` has " << status.getSize()
                 << " bytes; a source file may have " << MostBytes << "\n";
    return std::nullopt;
  }
  sources.insert(status.getUniqueID());
  return readBytes(path);
}

std::optional<std::string> astra::readBytes(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return printFileError(true, path, buffer.getError().message()),
           std::nullopt;
  return (*buffer)->getBuffer().str();
}

/// Files and folders that go away when the process is told to end, in memory
/// that a signal handler may read.
namespace {
constexpr size_t MostDoomed = 32;
char doomed[MostDoomed][4096];
volatile sig_atomic_t doomedCount = 0;
struct sigaction before[NSIG];
} // namespace

static void onSignal(int number) {
  for (int i = doomedCount; i > 0; --i)
    if (unlink(doomed[i - 1]) != 0)
      rmdir(doomed[i - 1]);
  // What came before, or the end, follows when the handler returns.
  sigaction(number, &before[number], nullptr);
  raise(number);
}

/// A folder stands before the files in it.
static void removeOnSignal(StringRef path) {
  if (doomedCount == 0)
    for (int number :
         {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT, SIGXCPU, SIGXFSZ}) {
      struct sigaction action = {};
      action.sa_handler = onSignal;
      if (sigaction(number, nullptr, &before[number]) == 0 &&
          before[number].sa_handler != SIG_IGN)
        sigaction(number, &action, nullptr);
    }
  if (size_t(doomedCount) == MostDoomed || path.size() >= sizeof doomed[0])
    return;
  std::memcpy(doomed[doomedCount], path.data(), path.size());
  doomed[doomedCount][path.size()] = 0;
  doomedCount = doomedCount + 1;
}

/// Removes what runs that were killed left of `path`: their process is gone,
/// and the file is not of the last minute (it may be another machine's).
static void removeStale(StringRef path) {
  std::string prefix = (llvm::sys::path::filename(path) + TemporaryMark).str();
  StringRef folder = llvm::sys::path::parent_path(path);
  std::error_code error;
  for (fs::directory_iterator it(folder.empty() ? "." : folder, error), end;
       it != end && !error; it.increment(error)) {
    StringRef name = llvm::sys::path::filename(it->path());
    pid_t process;
    fs::file_status status;
    if (!name.consume_front(prefix) || name.getAsInteger(10, process) ||
        kill(process, 0) == 0 || errno != ESRCH ||
        fs::status(it->path(), status))
      continue;
    auto age =
        std::chrono::system_clock::now() -
        std::chrono::system_clock::time_point(status.getLastModificationTime());
    if (age > std::chrono::minutes(1))
      fs::remove(it->path());
  }
}

/// The file beside `path` that will become it.
static bool writeBeside(StringRef path, StringRef bytes,
                        std::string &temporary) {
  removeStale(path);
  std::string name = (path + TemporaryMark + std::to_string(getpid())).str();
  int descriptor;
  if (std::error_code error = fs::openFileForWrite(name, descriptor))
    return printFileError(false, path, error.message()), false;
  temporary = name;
  removeOnSignal(temporary);
  llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
  stream << bytes;
  stream.close();
  if (stream.has_error()) {
    printFileError(false, path, stream.error().message());
    stream.clear_error();
    return false;
  }
  return true;
}

/// Why nothing may be renamed over `path`, or null. A link is judged by what it
/// leads to: `/dev/stdout` is one.
static const char *refuseToReplace(StringRef path) {
  fs::file_status status;
  if (fs::status(path, status))
    return nullptr;
  if (fs::is_regular_file(status))
    return sources.count(status.getUniqueID()) ? "it is a source of the program"
                                               : nullptr;
  return fs::is_directory(status) ? "it is a folder"
                                  : "it is a device or a pipe, not a file";
}

bool astra::mayWrite(StringRef path) {
  const char *reason = refuseToReplace(path);
  if (reason)
    printFileError(false, path, reason);
  return !reason;
}

bool astra::writeFiles(
    llvm::ArrayRef<std::pair<std::string, StringRef>> contents) {
  std::vector<std::string> temporaries;
  bool good = true;
  for (const auto &[path, bytes] : contents) {
    if (!(good = mayWrite(path)))
      break;
    temporaries.emplace_back();
    if (!(good = writeBeside(path, bytes, temporaries.back())))
      break;
  }
  for (size_t i = 0; good && i < temporaries.size(); ++i)
    if (std::error_code error = fs::rename(temporaries[i], contents[i].first)) {
      printFileError(false, contents[i].first, error.message());
      good = false;
    }
  if (!good)
    for (const std::string &file : temporaries)
      if (!file.empty())
        fs::remove(file);
  return good;
}

bool astra::findSources(llvm::ArrayRef<std::string> paths,
                        std::vector<std::string> &files) {
  for (const std::string &path : paths) {
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    size_t before = files.size();
    std::error_code error;
    for (fs::recursive_directory_iterator it(path, error), end;
         it != end && !error; it.increment(error))
      if (llvm::sys::path::extension(it->path()) == ".astra" &&
          !fs::is_directory(it->path()))
        files.push_back(it->path());
    if (error)
      return printFileError(true, path, error.message()), false;
    std::sort(files.begin() + before, files.end());
  }
  return true;
}

TemporaryFolder::TemporaryFolder() {
  llvm::SmallString<128> made;
  if (std::error_code error = fs::createUniqueDirectory("astrac", made))
    printFileError(false, "astrac-<temporary>", error.message());
  else
    path = made.str().str();
  if (isValid())
    removeOnSignal(path);
}

std::string TemporaryFolder::getFile(StringRef name) const {
  std::string file = path + "/" + name.str();
  removeOnSignal(file);
  return file;
}

TemporaryFolder::~TemporaryFolder() {
  if (isValid())
    fs::remove_directories(path);
}
