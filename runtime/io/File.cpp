// Files through the system's calls; see File.h.
#include "io/File.h"
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace astra {
namespace {

/// Closes a descriptor at the end of a scope.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0)
      close(number);
  }
};

std::string systemReason() {
  char text[128] = "";
  return strerror_r(errno, text, sizeof text);
}

/// With its slash; "" for the current one. The name itself may already be as
/// long as names may be.
std::string folderOf(const std::string &path) {
  return path.substr(0, path.rfind('/') + 1);
}

Status refuseRead(const std::string &path, const std::string &reason) {
  return fail(ASTRA_ERROR_IO, "cannot read \"", path, "\": ", reason);
}

} // namespace

Status readFile(const std::string &path, std::string &bytes) {
  Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat status = {};
  if (file.number < 0 || fstat(file.number, &status) != 0)
    return refuseRead(path, systemReason());
  if (S_ISDIR(status.st_mode))
    return refuseRead(path, "it is a directory");
  if (!S_ISREG(status.st_mode))
    return refuseRead(path, "it is not a regular file");
  bytes.resize(size_t(status.st_size));
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t got = read(file.number, &bytes[done], bytes.size() - done);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return refuseRead(path, systemReason());
    if (got == 0)
      break;
    done += size_t(got);
  }
  bytes.resize(done);
  return {};
}

Status FileWriter::refuse(const char *step) const {
  return fail(ASTRA_ERROR_IO, "cannot ", step, " \"", path,
              "\": ", systemReason());
}

Status FileWriter::open() {
  struct stat status = {};
  bool replaces = stat(path.c_str(), &status) == 0;
  // The file is moved to its place, which would do away with a device.
  if (replaces && !S_ISREG(status.st_mode))
    return fail(ASTRA_ERROR_IO, "cannot write \"", path, "\": ",
                S_ISDIR(status.st_mode) ? "it is a directory"
                                        : "it is not a regular file");
  // O_EXCL makes the name ours; the system applies the caller's umask.
  static std::atomic<unsigned> count{0};
  for (int attempt = 0; attempt < 100 && descriptor < 0; ++attempt) {
    temporary = join(folderOf(path), ".astra-", getpid(), "-",
                     count.fetch_add(1), ".new");
    descriptor = ::open(temporary.c_str(),
                        O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno != EEXIST)
      break;
  }
  if (descriptor >= 0 &&
      (!replaces || fchmod(descriptor, status.st_mode & 0777) == 0))
    return {};
  Status refused = refuse("write");
  if (descriptor < 0)
    temporary.clear(); // it is not ours
  return refused;
}

Status FileWriter::write(const void *data, size_t bytes) {
  const char *next = static_cast<const char *>(data);
  while (bytes) {
    ssize_t put = ::write(descriptor, next, bytes);
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return refuse("write");
    next += put;
    bytes -= size_t(put);
  }
  return {};
}

Status FileWriter::finish() {
  int closing = std::exchange(descriptor, -1);
  if (close(closing) != 0)
    return refuse("write");
  if (rename(temporary.c_str(), path.c_str()) != 0)
    return refuse("write");
  temporary.clear();
  return {};
}

FileWriter::~FileWriter() {
  if (descriptor >= 0)
    close(descriptor);
  if (!temporary.empty())
    unlink(temporary.c_str());
}

} // namespace astra
