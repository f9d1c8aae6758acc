// Checks what the documents promise: the first program of docs/errors/<code>.md
// has exactly the page's error, the second none, and the examples of a document
// compile. What runs a program (the parser alone, or the checker too) is the
// caller's.
#ifndef ASTRA_TEST_FRONTEND_ERRORPAGES_H
#define ASTRA_TEST_FRONTEND_ERRORPAGES_H

#include <functional>
#include <string>
#include <vector>

namespace astra::test {

struct Program {
  std::string language; // what stands behind the fence: "astra", "astra-bytes"
  std::string text;     // in astra-bytes, \xNN is one byte
};

/// The fenced blocks of a Markdown text whose language begins with "astra".
std::vector<Program> readPrograms(const std::string &markdown);

/// The codes of all diagnostics of a program, each once, in order.
using Check = std::function<std::vector<std::string>(const std::string &text)>;

/// Tests the pages of all rows of Diagnostics.def for which `isMine` holds.
void testErrorPages(const std::function<bool(const std::string &code)> &isMine,
                    const Check &check);

/// Tests the programs of a document: "astra" has no error, "astra-error E0501"
/// that one. Errors that are not mine are taken as not found by `check`.
void testDocument(const std::string &path,
                  const std::function<bool(const std::string &code)> &isMine,
                  const Check &check);

} // namespace astra::test
#endif // ASTRA_TEST_FRONTEND_ERRORPAGES_H
