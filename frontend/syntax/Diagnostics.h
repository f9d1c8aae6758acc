// Errors of the language: the table of codes (Diagnostics.def), the engine that
// collects them, and their rendering with line, caret, notes and fix-it. Used
// by lexer, parser and checker; knows no tree and no MLIR.
//
// Diagnostics.def rows: DIAG(code, name, severity, "summary")
//   DIAG(E0201, shape_mismatch, Error, "two extents that must agree differ")
// Codes are never reused. docs/errors/<code>.md explains each, with a bad
// example that a test compiles.
#ifndef ASTRA_FRONTEND_SYNTAX_DIAGNOSTICS_H
#define ASTRA_FRONTEND_SYNTAX_DIAGNOSTICS_H

#include "frontend/syntax/Source.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace astra {

enum class Severity { Error, Warning };

enum class DiagCode : unsigned {
#define DIAG(code, name, severity, summary) name,
#include "frontend/syntax/Diagnostics.def"
};

/// "E0201"
llvm::StringRef getCodeText(DiagCode code);
llvm::StringRef getSummary(DiagCode code);
Severity getSeverity(DiagCode code);

struct DiagNote {
  SourceRange range;
  std::string text;
};

/// Replaces `range` by `text`; given only where it is the single obvious fix.
struct FixIt {
  SourceRange range;
  std::string text;
  std::string label; // "did you mean `relu`?"
};

struct Diagnostic {
  DiagCode code;
  SourceRange range;
  std::string message;
  std::string expected, found; // printed as their own lines when not empty
  std::string help;            // how to fix it, one sentence
  std::vector<DiagNote> notes;
  std::vector<FixIt> fixits;
};

/// Collects diagnostics; identical ones (code and place) are reported once, and
/// after `limit` errors one last line says how many more there were.
class DiagnosticEngine {
public:
  explicit DiagnosticEngine(SourceManager &sources) : sources(sources) {}

  /// The returned reference is valid until the next report.
  Diagnostic &report(DiagCode code, SourceRange range, std::string message);

  bool hasErrors() const { return errorCount != 0; }
  unsigned getErrorCount() const { return errorCount; }
  const std::vector<Diagnostic> &getAll() const { return all; }
  SourceManager &getSources() { return sources; }

  /// Prints everything in source order:
  ///   file.astra:3:7: error[E0201]: message
  ///     3 |   x @ y
  ///       |   ~~^~~
  ///       = expected: ...
  ///       = found: ...
  ///       = help: ...
  void print(llvm::raw_ostream &os, bool color = false) const;

  /// For speculative checking: everything reported since `mark` can be dropped.
  size_t mark() const { return all.size(); }
  void rollback(size_t mark);

private:
  SourceManager &sources;
  std::vector<Diagnostic> all;
  Diagnostic dropped{}; // what report() hands out for a diagnostic not kept
  unsigned errorCount = 0;
};

} // namespace astra
#endif // ASTRA_FRONTEND_SYNTAX_DIAGNOSTICS_H
