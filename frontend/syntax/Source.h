// Source files and ranges in them. A SourceRange is two byte offsets in a file
// of the SourceManager; lines and columns are worked out when a message is
// printed. This file may not know tokens, trees or MLIR.
#ifndef ASTRA_FRONTEND_SYNTAX_SOURCE_H
#define ASTRA_FRONTEND_SYNTAX_SOURCE_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace astra {

struct SourceRange {
  uint32_t file = 0;  // index in the SourceManager
  uint32_t begin = 0; // byte offsets, end exclusive
  uint32_t end = 0;
  SourceRange to(SourceRange other) const { return {file, begin, other.end}; }
};

struct LineColumn {
  unsigned line = 1;   // from 1
  unsigned column = 1; // from 1, counts characters (UTF-8), not bytes
};

class SourceManager {
public:
  /// Takes the text; `path` is what messages show. Returns the file's index.
  uint32_t addBuffer(std::string path, std::string text);
  uint32_t getFileCount() const { return files.size(); }
  llvm::StringRef getText(uint32_t file) const;
  llvm::StringRef getText(SourceRange range) const;
  llvm::StringRef getPath(uint32_t file) const;
  LineColumn getLineColumn(uint32_t file, uint32_t offset) const;
  /// The whole line that holds `offset`, without its end.
  llvm::StringRef getLine(uint32_t file, uint32_t offset) const;
  /// The offset of that line's first byte.
  uint32_t getLineStart(uint32_t file, uint32_t offset) const;

private:
  struct File {
    std::string path, text;
    std::vector<uint32_t> lineStarts;
  };
  std::vector<std::unique_ptr<File>> files;
};

} // namespace astra
#endif // ASTRA_FRONTEND_SYNTAX_SOURCE_H
