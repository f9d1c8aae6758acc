// A reader of JSON text that takes one expected thing at a time; enough for the
// headers of files, with no tree in memory and no recursion.
#ifndef ASTRA_RUNTIME_JSON_H
#define ASTRA_RUNTIME_JSON_H

#include "core/Status.h"

namespace astra {

class JsonReader {
public:
  JsonReader(const char *begin, size_t size)
      : begin(begin), next(begin), end(begin + size) {}

  /// Takes `sign` if it comes next, after white space.
  bool take(char sign);
  /// Each of these refuses anything else.
  Status expect(char sign);
  Status string(std::string &text);
  Status integer(int64_t &value); // 0 or more
  Status finish();

  /// An error at the present place.
  Status refuse(const std::string &why) const;

private:
  void skipSpace();
  Status escape(std::string &text);
  Status codeUnit(uint32_t &unit);

  const char *begin, *next, *end;
};

/// Whether a text is well-formed UTF-8 (Unicode 15, table 3-7).
bool isUtf8(const std::string &text);

/// Appends a text as a JSON string, with its quotes.
void appendJsonString(std::string &out, const std::string &text);

} // namespace astra
#endif // ASTRA_RUNTIME_JSON_H
