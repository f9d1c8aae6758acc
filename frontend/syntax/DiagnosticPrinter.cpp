// How diagnostics look: place, code and message, the line with a caret under
// the range, expected and found, help, notes and fix-its. Lines are shown so
// that the marks stand right: tabs become spaces, wide characters count twice,
// characters that would disturb a terminal are replaced, long lines are cut to
// a window.
#include "frontend/syntax/Diagnostics.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Unicode.h"
#include <algorithm>
#include <tuple>

using namespace astra;
using llvm::StringRef;

namespace {

constexpr size_t tabWidth = 4;
constexpr size_t windowWidth = 120;
constexpr size_t printLimit = 50;

/// A part of a line as it is shown, with the cells that a byte range covers.
struct ShownLine {
  std::string text;
  size_t markBegin = 0, markEnd = 0;
};

class Printer {
public:
  Printer(llvm::raw_ostream &os, const SourceManager &sources, bool color)
      : os(os), sources(sources), color(color) {}
  void print(const Diagnostic &diagnostic);

private:
  void paint(llvm::raw_ostream::Colors ink, bool bold = true) {
    if (color)
      os.changeColor(ink, bold);
  }
  void plain() {
    if (color)
      os.resetColor();
  }
  void printPlace(SourceRange range);
  void printSnippet(SourceRange range, size_t gutter);
  void printLine(SourceRange range, size_t gutter, char first);
  void printFixIt(const FixIt &fix, size_t gutter);
  void printDetail(StringRef label, StringRef text, size_t gutter);
  size_t getGutter(const Diagnostic &diagnostic) const;

  llvm::raw_ostream &os;
  const SourceManager &sources;
  bool color;
};

} // namespace

/// The bytes of the character at the front of `text`: 1 if it is not UTF-8.
static size_t getCharacterLength(StringRef text) {
  auto first = reinterpret_cast<const llvm::UTF8 *>(text.data());
  size_t length = llvm::getNumBytesForUTF8(*first);
  if (length > text.size() || !llvm::isLegalUTF8Sequence(first, first + length))
    return 1;
  return length;
}

/// Appends one character as it is shown; `at` is the cell where it starts.
static void appendCharacter(std::string &out, StringRef character, size_t &at) {
  if (character == "\t") {
    size_t spaces = tabWidth - at % tabWidth;
    out.append(spaces, ' ');
    at += spaces;
    return;
  }
  int width = llvm::sys::unicode::columnWidthUTF8(character);
  if (width <= 0) { // not printable, or would join the character before
    out += "\xEF\xBF\xBD";
    at += 1;
    return;
  }
  out += character.str();
  at += width;
}

/// Where to begin in a long line so that `begin` is seen.
static size_t getWindowStart(StringRef line, size_t begin) {
  if (line.size() <= windowWidth || begin < windowWidth / 2)
    return 0;
  size_t start = begin - windowWidth / 3;
  while (start < begin && (line[start] & 0xC0) == 0x80)
    ++start;
  return start;
}

/// `begin` and `end` are byte offsets in `line`.
static ShownLine showLine(StringRef line, size_t begin, size_t end) {
  ShownLine shown;
  size_t cell = 0;
  size_t offset = getWindowStart(line, begin);
  if (offset != 0) {
    shown.text = "...";
    cell = 3;
  }
  shown.markBegin = shown.markEnd = cell;
  while (offset < line.size()) {
    if (cell >= windowWidth) {
      shown.text += "...";
      break;
    }
    if (offset == begin)
      shown.markBegin = cell;
    StringRef character =
        line.substr(offset, getCharacterLength(line.substr(offset)));
    appendCharacter(shown.text, character, cell);
    offset += character.size();
    if (offset <= end)
      shown.markEnd = cell;
  }
  if (begin >= line.size())
    shown.markBegin = cell;
  shown.markEnd = std::max(shown.markEnd, shown.markBegin + 1);
  return shown;
}

static size_t countDigits(size_t number) {
  return std::to_string(number).size();
}

size_t Printer::getGutter(const Diagnostic &diagnostic) const {
  size_t width = 0;
  auto use = [&](SourceRange range) {
    unsigned line = sources.getLineColumn(range.file, range.end).line;
    width = std::max(width, countDigits(line));
  };
  use(diagnostic.range);
  for (const DiagNote &note : diagnostic.notes)
    use(note.range);
  return width + 2;
}

void Printer::printPlace(SourceRange range) {
  LineColumn place = sources.getLineColumn(range.file, range.begin);
  os << sources.getPath(range.file) << ':' << place.line << ':' << place.column
     << ": ";
}

/// One line with marks under the part of it that lies in `range`.
void Printer::printLine(SourceRange range, size_t gutter, char first) {
  StringRef line = sources.getLine(range.file, range.begin);
  size_t start = sources.getLineStart(range.file, range.begin);
  size_t begin = range.begin - start;
  size_t end = std::min<size_t>(range.end - start, line.size());
  ShownLine shown = showLine(line, begin, end);
  std::string number =
      std::to_string(sources.getLineColumn(range.file, range.begin).line);
  os.indent(gutter - number.size()) << number << " | " << shown.text << '\n';
  os.indent(gutter) << " | ";
  os.indent(shown.markBegin);
  paint(llvm::raw_ostream::GREEN);
  os << first << std::string(shown.markEnd - shown.markBegin - 1, '~');
  plain();
  os << '\n';
}

void Printer::printSnippet(SourceRange range, size_t gutter) {
  StringRef text = sources.getText(range.file);
  range.begin = std::min<size_t>(range.begin, text.size());
  range.end =
      std::max<uint32_t>(range.begin, std::min<size_t>(range.end, text.size()));
  printLine(range, gutter, '^');
  size_t lineEnd = sources.getLineStart(range.file, range.begin) +
                   sources.getLine(range.file, range.begin).size();
  uint32_t lastByte = range.end == 0 ? 0 : range.end - 1;
  uint32_t lastStart = sources.getLineStart(range.file, lastByte);
  if (lastStart <= lineEnd || lastStart <= range.begin)
    return;
  if (text.slice(lineEnd, lastStart).count('\n') > 1)
    os.indent(gutter) << " ...\n";
  StringRef last = sources.getLine(range.file, lastStart);
  uint32_t indent = last.size() - last.ltrim(" \t").size();
  uint32_t begin = std::min(lastStart + indent, lastByte);
  printLine({range.file, begin, range.end}, gutter, '~');
}

void Printer::printDetail(StringRef label, StringRef text, size_t gutter) {
  if (text.empty())
    return;
  os.indent(gutter) << " = ";
  paint(llvm::raw_ostream::CYAN);
  os << label;
  plain();
  os << ": " << text << '\n';
}

/// The line as it would be after the change.
void Printer::printFixIt(const FixIt &fix, size_t gutter) {
  printDetail("fix", fix.label, gutter);
  StringRef text = sources.getText(fix.range.file);
  if (fix.range.end > text.size() || fix.range.begin > fix.range.end)
    return;
  uint32_t start = sources.getLineStart(fix.range.file, fix.range.begin);
  StringRef tail = sources.getLine(fix.range.file, fix.range.end);
  uint32_t tailStart = sources.getLineStart(fix.range.file, fix.range.end);
  uint32_t keep = std::min<uint32_t>(fix.range.end - tailStart, tail.size());
  std::string line = text.slice(start, fix.range.begin).str() + fix.text +
                     tail.drop_front(keep).str();
  size_t begin = fix.range.begin - start;
  ShownLine shown = showLine(line, begin, begin + fix.text.size());
  std::string number =
      std::to_string(sources.getLineColumn(fix.range.file, start).line);
  os.indent(gutter - std::min(gutter, number.size()))
      << number << " | " << shown.text << '\n';
  if (fix.text.empty())
    return;
  os.indent(gutter) << " | ";
  os.indent(shown.markBegin);
  paint(llvm::raw_ostream::GREEN);
  os << std::string(shown.markEnd - shown.markBegin, '+');
  plain();
  os << '\n';
}

void Printer::print(const Diagnostic &diagnostic) {
  size_t gutter = getGutter(diagnostic);
  bool isError = getSeverity(diagnostic.code) == Severity::Error;
  printPlace(diagnostic.range);
  paint(isError ? llvm::raw_ostream::RED : llvm::raw_ostream::YELLOW);
  os << (isError ? "error" : "warning") << '[' << getCodeText(diagnostic.code)
     << ']';
  plain();
  os << ": " << diagnostic.message << '\n';
  printSnippet(diagnostic.range, gutter);
  printDetail("expected", diagnostic.expected, gutter);
  printDetail("found", diagnostic.found, gutter);
  printDetail("help", diagnostic.help, gutter);
  for (const FixIt &fix : diagnostic.fixits)
    printFixIt(fix, gutter);
  for (const DiagNote &note : diagnostic.notes) {
    printPlace(note.range);
    os << "note: " << note.text << '\n';
    printSnippet(note.range, gutter);
  }
}

void DiagnosticEngine::print(llvm::raw_ostream &os, bool color) const {
  std::vector<const Diagnostic *> sorted;
  for (const Diagnostic &diagnostic : all)
    sorted.push_back(&diagnostic);
  // The address breaks ties, so that the order of reporting stays.
  llvm::sort(sorted, [](const Diagnostic *a, const Diagnostic *b) {
    return std::tuple(a->range.file, a->range.begin, a) <
           std::tuple(b->range.file, b->range.begin, b);
  });
  Printer printer(os, sources, color);
  unsigned errorsShown = 0;
  for (const Diagnostic *diagnostic :
       llvm::ArrayRef<const Diagnostic *>(sorted).take_front(
           std::min(sorted.size(), printLimit))) {
    printer.print(*diagnostic);
    errorsShown += getSeverity(diagnostic->code) == Severity::Error;
  }
  if (errorCount > errorsShown)
    os << "and " << errorCount - errorsShown << " more errors\n";
}
