// Reading and writing the little JSON that file headers need; see Json.h.
#include "io/Json.h"
#include <cstdio>

namespace astra {
namespace {

void appendUtf8(std::string &text, uint32_t code) {
  if (code < 0x80) {
    text += char(code);
    return;
  }
  unsigned more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  text += char((0xff00 >> (more + 1) & 0xff) | (code >> (6 * more)));
  while (more-- > 0)
    text += char(0x80 | (code >> (6 * more) & 0x3f));
}

/// The bytes of the character that begins at `at`, or 0 if none does.
size_t characterBytes(const std::string &text, size_t at) {
  auto byte = [&](size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  unsigned lead = byte(at), second = byte(at + 1);
  if (lead < 0x80)
    return 1;
  if (lead < 0xc2 || lead > 0xf4)
    return 0;
  size_t bytes = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  // The second byte's range excludes long forms, surrogates and what lies
  // beyond the last code point.
  unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  unsigned high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (second < low || second > high)
    return 0;
  for (size_t i = 2; i < bytes; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80)
      return 0;
  }
  return bytes;
}

int hexValue(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

} // namespace

bool isUtf8(const std::string &text) {
  for (size_t at = 0; at < text.size();) {
    size_t bytes = characterBytes(text, at);
    if (!bytes)
      return false;
    at += bytes;
  }
  return true;
}

void JsonReader::skipSpace() {
  while (next != end &&
         (*next == ' ' || *next == '\t' || *next == '\n' || *next == '\r'))
    ++next;
}

Status JsonReader::refuse(const std::string &why) const {
  return fail(ASTRA_ERROR_CORRUPT_FILE, why, " at byte ", next - begin,
              " of the header");
}

bool JsonReader::take(char sign) {
  skipSpace();
  if (next == end || *next != sign)
    return false;
  ++next;
  return true;
}

Status JsonReader::expect(char sign) {
  return take(sign) ? Status()
                    : refuse(join("expected '", std::string(1, sign), "'"));
}

Status JsonReader::string(std::string &text) {
  text.clear();
  ASTRA_TRY(expect('"'));
  while (next != end && *next != '"') {
    if (static_cast<unsigned char>(*next) < 0x20)
      return refuse("a control character stands in a string");
    if (*next == '\\')
      ASTRA_TRY(escape(text));
    else
      text += *next++;
  }
  return isUtf8(text) ? expect('"') : refuse("a string is not UTF-8");
}

Status JsonReader::codeUnit(uint32_t &unit) {
  unit = 0;
  for (int i = 0; i < 4; ++i, ++next) {
    int digit = next == end ? -1 : hexValue(*next);
    if (digit < 0)
      return refuse("a \\u escape has not four hexadecimal digits");
    unit = unit << 4 | uint32_t(digit);
  }
  return {};
}

Status JsonReader::escape(std::string &text) {
  constexpr char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
  ++next;
  if (next == end)
    return refuse("a string does not end");
  char name = *next++;
  for (size_t i = 0; names[i]; ++i) {
    if (name == names[i]) {
      text += values[i];
      return {};
    }
  }
  if (name != 'u')
    return refuse("an unknown escape stands in a string");
  uint32_t unit = 0, low = 0;
  ASTRA_TRY(codeUnit(unit));
  if (unit >= 0xd800 && unit < 0xdc00) {
    if (end - next < 2 || next[0] != '\\' || next[1] != 'u')
      return refuse("half of a surrogate pair stands in a string");
    next += 2;
    ASTRA_TRY(codeUnit(low));
    if (low < 0xdc00 || low >= 0xe000)
      return refuse("half of a surrogate pair stands in a string");
    unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
  } else if (unit >= 0xdc00 && unit < 0xe000) {
    return refuse("half of a surrogate pair stands in a string");
  }
  appendUtf8(text, unit);
  return {};
}

Status JsonReader::integer(int64_t &value) {
  skipSpace();
  const char *start = next;
  value = 0;
  for (; next != end && *next >= '0' && *next <= '9'; ++next) {
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, *next - '0', &value))
      return refuse("a number leaves 63 bits");
  }
  bool isPlain = next != start && (*start != '0' || next == start + 1);
  return isPlain ? Status() : refuse("expected a whole number, 0 or more,");
}

Status JsonReader::finish() {
  skipSpace();
  return next == end ? Status() : refuse("something follows the end");
}

void appendJsonString(std::string &out, const std::string &text) {
  out += '"';
  for (size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    size_t bytes = characterBytes(text, at);
    if (bytes > 1) {
      out.append(text, at, bytes);
      at += bytes - 1;
    } else if (bytes == 0) {
      out += "\\ufffd"; // JSON is UTF-8
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", unsigned(c));
      out += escaped;
    } else {
      out += c;
    }
  }
  out += '"';
}

} // namespace astra
