// The texts of all source files and the way from byte offsets to lines and
// columns. May not know tokens, trees or MLIR.
#include "frontend/syntax/Source.h"
#include <algorithm>

using namespace astra;

uint32_t SourceManager::addBuffer(std::string path, std::string text) {
  auto file = std::make_unique<File>();
  file->path = std::move(path);
  file->text = std::move(text);
  files.push_back(std::move(file));
  return files.size() - 1;
}

llvm::StringRef SourceManager::getText(uint32_t file) const {
  return files[file]->text;
}

llvm::StringRef SourceManager::getText(SourceRange range) const {
  return getText(range.file).slice(range.begin, range.end);
}

llvm::StringRef SourceManager::getPath(uint32_t file) const {
  return files[file]->path;
}

uint32_t SourceManager::getLineStart(uint32_t file, uint32_t offset) const {
  llvm::StringRef before = getText(file).take_front(offset);
  size_t newline = before.rfind('\n');
  return newline == llvm::StringRef::npos ? 0 : newline + 1;
}

LineColumn SourceManager::getLineColumn(uint32_t file, uint32_t offset) const {
  File &entry = *files[file];
  offset = std::min<size_t>(offset, entry.text.size());
  // Only files with messages pay for the table of lines.
  if (entry.lineStarts.empty()) {
    entry.lineStarts.push_back(0);
    for (size_t at = entry.text.find('\n'); at != std::string::npos;
         at = entry.text.find('\n', at + 1))
      entry.lineStarts.push_back(at + 1);
  }
  auto next = std::upper_bound(entry.lineStarts.begin(), entry.lineStarts.end(),
                               offset);
  LineColumn result;
  result.line = next - entry.lineStarts.begin();
  for (uint32_t at = *std::prev(next); at < offset; ++at)
    result.column += (entry.text[at] & 0xC0) != 0x80;
  return result;
}

llvm::StringRef SourceManager::getLine(uint32_t file, uint32_t offset) const {
  llvm::StringRef text = getText(file);
  offset = std::min<size_t>(offset, text.size());
  uint32_t begin = getLineStart(file, offset);
  llvm::StringRef line = text.slice(begin, text.find('\n', offset));
  line.consume_back("\r");
  return line;
}
