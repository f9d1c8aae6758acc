// The table of error pages; its text is generated from docs/errors.
#include "frontend/syntax/Explain.h"

using namespace astra;

llvm::StringRef astra::getExplanation(llvm::StringRef code) {
  static const struct {
    llvm::StringLiteral code, text;
  } pages[] = {
#define PAGE(code, text) {#code, text},
#include "frontend/syntax/ErrorPages.inc"
#undef PAGE
  };
  for (const auto &page : pages)
    if (code.equals_insensitive(page.code))
      return page.text;
  return "";
}
