// Whole files in and out, with errors that say which file and why.
#ifndef ASTRA_RUNTIME_FILE_H
#define ASTRA_RUNTIME_FILE_H

#include "core/Status.h"
#include <vector>

namespace astra {

/// Reads a regular file.
Status readFile(const std::string &path, std::string &bytes);

/// Writes the pieces to a new file beside `path` and moves it there, so that
/// nobody ever sees half of it.
class FileWriter {
public:
  explicit FileWriter(std::string path) : path(std::move(path)) {}
  ~FileWriter();
  FileWriter(const FileWriter &) = delete;
  FileWriter &operator=(const FileWriter &) = delete;

  Status open();
  Status write(const void *data, size_t bytes);
  /// Puts the file in its place.
  Status finish();

private:
  Status refuse(const char *step) const;

  std::string path, temporary;
  int descriptor = -1;
};

} // namespace astra
#endif // ASTRA_RUNTIME_FILE_H
