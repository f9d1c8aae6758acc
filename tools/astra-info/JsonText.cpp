// See JsonText.h. Reads from left to right; every function takes one thing and
// says whether it was there.
#include "tools/astra-info/JsonText.h"

#include <cstring>

namespace astra {
namespace {

constexpr int deepest = 256;

class Scanner {
public:
  explicit Scanner(const std::string &text) : next(text.c_str()) {}

  bool document() { return value(0) && (space(), *next == 0); }
  const char *place() const { return next; }

private:
  void space() { next += std::strspn(next, " \t\r\n"); }
  bool take(char sign) {
    space();
    if (*next != sign)
      return false;
    ++next;
    return true;
  }
  bool word(const char *letters) {
    size_t length = std::strlen(letters);
    if (std::strncmp(next, letters, length) != 0)
      return false;
    next += length;
    return true;
  }
  bool digits() {
    size_t length = std::strspn(next, "0123456789");
    next += length;
    return length != 0;
  }
  bool number();
  bool string();
  bool list(char end, int depth);
  bool value(int depth);

  const char *next; // a zero byte ends the text
};

bool Scanner::number() {
  word("-");
  if (!word("0") && !digits())
    return false;
  if (word(".") && !digits())
    return false;
  if (!word("e") && !word("E"))
    return true;
  if (!word("+"))
    word("-");
  return digits();
}

bool Scanner::string() {
  if (!take('"'))
    return false;
  for (; *next != '"'; ++next) {
    if (static_cast<unsigned char>(*next) < 0x20)
      return false;
    if (*next != '\\')
      continue;
    ++next;
    if (*next == 'u') {
      if (std::strspn(next + 1, "0123456789abcdefABCDEF") < 4)
        return false;
      next += 4;
    } else if (!*next || !std::strchr("\"\\/bfnrt", *next)) {
      return false;
    }
  }
  ++next;
  return true;
}

/// The rest of an object or array, behind its opening bracket.
bool Scanner::list(char end, int depth) {
  if (depth == deepest)
    return false;
  if (take(end))
    return true;
  do {
    if (end == '}' && !(string() && take(':')))
      return false;
    if (!value(depth + 1))
      return false;
  } while (take(','));
  return take(end);
}

bool Scanner::value(int depth) {
  space();
  if (*next == '"')
    return string();
  if (take('{'))
    return list('}', depth);
  if (take('['))
    return list(']', depth);
  return word("true") || word("false") || word("null") || number();
}

} // namespace

bool isJson(const std::string &text) {
  Scanner scanner(text);
  return scanner.document() && scanner.place() == text.c_str() + text.size();
}

} // namespace astra
