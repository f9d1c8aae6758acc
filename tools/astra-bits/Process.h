// Running another program and reading what it prints. Knows nothing of Astra.
#ifndef ASTRA_TOOLS_ASTRA_BITS_PROCESS_H
#define ASTRA_TOOLS_ASTRA_BITS_PROCESS_H

#include <functional>
#include <string>
#include <vector>

namespace astra {

struct Finished {
  int status = -1; // of exit; -1 if it ended otherwise
  std::string output, errors;
  std::string problem; // why it did not end by itself, or ""
  bool isLate = false; // it was ended, since its time was over
};

using Watch = std::function<void(const std::string &output)>;

/// Waits for the end, at most so many seconds. `watch` gets the output so far,
/// about once a second.
Finished runProgram(const std::vector<std::string> &words, unsigned seconds,
                    const Watch &watch = nullptr);

/// The folder of a file, "." if there is none in its name.
std::string folderOf(const std::string &path);
/// A program of this name in PATH, or "".
std::string findProgram(const std::string &name);
bool isProgram(const std::string &path);

/// A folder for temporary files, removed with the files in it.
class TemporaryFiles {
public:
  TemporaryFiles();
  ~TemporaryFiles();
  TemporaryFiles(const TemporaryFiles &) = delete;
  bool isValid() const { return !folder.empty(); }
  /// A new name each time.
  std::string add(const std::string &ending);

private:
  std::string folder;
  std::vector<std::string> files;
};

} // namespace astra
#endif // ASTRA_TOOLS_ASTRA_BITS_PROCESS_H
