// Checks a program for a test and keeps what came of it. Neighbouring modules
// are given as texts; the standard library is the real one.
#ifndef ASTRA_TEST_FRONTEND_CHECKED_H
#define ASTRA_TEST_FRONTEND_CHECKED_H

#include "frontend/check/Check.h"
#include "llvm/Support/MemoryBuffer.h"
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace astra::test {

struct Checked {
  SourceManager sources;
  DiagnosticEngine diagnostics{sources};
  std::unique_ptr<hir::Program> program;

  explicit Checked(std::string text,
                   std::map<std::string, std::string> neighbours = {}) {
    uint32_t file = sources.addBuffer("t.astra", std::move(text));
    CheckOptions options;
    options.stdPath = ASTRA_SOURCE_DIR "/frontend/std";
    options.load =
        [neighbours](const std::string &path) -> std::optional<std::string> {
      auto it = neighbours.find(path);
      if (it != neighbours.end())
        return it->second;
      auto buffer = llvm::MemoryBuffer::getFile(path);
      if (!buffer)
        return std::nullopt;
      return (*buffer)->getBuffer().str();
    };
    program = checkProgram(options, file, sources, diagnostics);
  }
  std::string getMessages() {
    std::string text;
    llvm::raw_string_ostream os(text);
    diagnostics.print(os);
    return text;
  }
  /// The typed program, or the messages.
  std::string getHir() {
    if (diagnostics.hasErrors())
      return getMessages();
    std::string text;
    llvm::raw_string_ostream os(text);
    hir::print(*program, os);
    return text;
  }
  /// "E0501@3:7 E0402@5:1", in the order of reporting.
  std::string getPlaces() {
    std::string result;
    for (const Diagnostic &diagnostic : diagnostics.getAll()) {
      LineColumn place =
          sources.getLineColumn(diagnostic.range.file, diagnostic.range.begin);
      result += (result.empty() ? "" : " ") +
                getCodeText(diagnostic.code).str() + "@" +
                std::to_string(place.line) + ":" + std::to_string(place.column);
    }
    return result;
  }
  std::vector<std::string> getCodes() {
    std::set<std::string> codes;
    for (const Diagnostic &diagnostic : diagnostics.getAll())
      codes.insert(getCodeText(diagnostic.code).str());
    return {codes.begin(), codes.end()};
  }
};

} // namespace astra::test
#endif // ASTRA_TEST_FRONTEND_CHECKED_H
