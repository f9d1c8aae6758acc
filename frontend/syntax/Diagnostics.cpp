// The table of codes and the engine that collects diagnostics. How they look on
// a terminal is in DiagnosticPrinter.cpp. Knows no tree and no MLIR.
#include "frontend/syntax/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"

using namespace astra;

namespace {
struct Row {
  llvm::StringLiteral code, summary;
  Severity severity;
};
const Row rows[] = {
#define DIAG(code, name, severity, summary)                                    \
  {#code, summary, Severity::severity},
#include "frontend/syntax/Diagnostics.def"
};
/// Past this many the rest is only counted.
constexpr size_t storageLimit = 1000;
} // namespace

llvm::StringRef astra::getCodeText(DiagCode code) {
  return rows[static_cast<unsigned>(code)].code;
}

llvm::StringRef astra::getSummary(DiagCode code) {
  return rows[static_cast<unsigned>(code)].summary;
}

Severity astra::getSeverity(DiagCode code) {
  return rows[static_cast<unsigned>(code)].severity;
}

static bool samePlace(SourceRange a, SourceRange b) {
  return a.file == b.file && a.begin == b.begin && a.end == b.end;
}

Diagnostic &DiagnosticEngine::report(DiagCode code, SourceRange range,
                                     std::string message) {
  Diagnostic diagnostic{code, range, std::move(message), {}, {}, {}, {}, {}};
  bool isKnown = llvm::any_of(all, [&](const Diagnostic &known) {
    return known.code == code && samePlace(known.range, range);
  });
  bool isError = getSeverity(code) == Severity::Error;
  if (isKnown || all.size() >= storageLimit) {
    errorCount += !isKnown && isError;
    dropped = std::move(diagnostic);
    return dropped;
  }
  errorCount += isError;
  all.push_back(std::move(diagnostic));
  return all.back();
}

void DiagnosticEngine::rollback(size_t mark) {
  while (all.size() > mark) {
    errorCount -= getSeverity(all.back().code) == Severity::Error;
    all.pop_back();
  }
}
