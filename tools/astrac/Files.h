// Files as a command-line tool meets them: reading with one clear error,
// writing so that no half file is ever seen, and folders that go away again.
#ifndef ASTRA_TOOLS_ASTRAC_FILES_H
#define ASTRA_TOOLS_ASTRAC_FILES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace astra {

/// "astrac: error[E0901]: ..." on standard error.
void printFileError(bool reading, llvm::StringRef path, llvm::StringRef why);

/// The text, or nothing with the error printed.
std::optional<std::string> readSource(llvm::StringRef path);

/// A file of any size and content.
std::optional<std::string> readBytes(llvm::StringRef path);

/// False, with the error printed, where a file would take the place of a
/// folder, a device, a pipe or a source that was read.
bool mayWrite(llvm::StringRef path);

/// Writes files beside their places first and moves them there together.
bool writeFiles(
    llvm::ArrayRef<std::pair<std::string, llvm::StringRef>> contents);

/// All .astra files below the given files and folders, sorted.
bool findSources(llvm::ArrayRef<std::string> paths,
                 std::vector<std::string> &files);

/// A folder for temporary files, removed with everything in it.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  bool isValid() const { return !path.empty(); }
  std::string getFile(llvm::StringRef name) const;

private:
  std::string path;
};

} // namespace astra
#endif // ASTRA_TOOLS_ASTRAC_FILES_H
