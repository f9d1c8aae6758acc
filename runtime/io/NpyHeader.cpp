// Reading and writing npy headers; see NpyHeader.h.
#include "io/NpyHeader.h"
#include <cstring>
#include <set>

namespace astra {
namespace {

constexpr char magic[] = "\x93NUMPY";
constexpr size_t magicBytes = 6;

/// Takes the dictionary apart, one expected thing at a time.
class DictionaryReader {
public:
  DictionaryReader(const char *begin, size_t size)
      : begin(begin), next(begin), end(begin + size) {}

  Status read(NpyHeader &header);

private:
  Status entry(NpyHeader &header);
  Status text(std::string &value);
  Status boolean(bool &value);
  Status tuple(std::vector<int64_t> &values);
  Status integer(int64_t &value);
  bool take(const char *word);
  Status refuse(const char *expected) const {
    return fail(ASTRA_ERROR_CORRUPT_FILE, "expected ", expected, " at byte ",
                next - begin, " of the header");
  }

  const char *begin, *next, *end;
  std::set<std::string> seen;
};

bool DictionaryReader::take(const char *word) {
  while (next != end && (*next == ' ' || *next == '\n'))
    ++next;
  size_t length = std::strlen(word);
  if (size_t(end - next) < length || std::memcmp(next, word, length) != 0)
    return false;
  next += length;
  return true;
}

Status DictionaryReader::text(std::string &value) {
  const char *quote = take("'") ? "'" : take("\"") ? "\"" : nullptr;
  if (!quote)
    return refuse("a text");
  const char *start = next;
  while (next != end && *next != *quote)
    ++next;
  value.assign(start, next);
  return take(quote) ? Status() : refuse("the end of a text");
}

Status DictionaryReader::boolean(bool &value) {
  value = take("True");
  return value || take("False") ? Status() : refuse("True or False");
}

Status DictionaryReader::integer(int64_t &value) {
  const char *start = next;
  value = 0;
  for (; next != end && *next >= '0' && *next <= '9'; ++next) {
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, *next - '0', &value))
      return refuse("a number of at most 63 bits");
  }
  return next != start ? Status() : refuse("an extent");
}

Status DictionaryReader::tuple(std::vector<int64_t> &values) {
  if (!take("("))
    return refuse("a tuple");
  while (!take(")")) {
    int64_t value = 0;
    ASTRA_TRY(integer(value));
    values.push_back(value);
    if (take(",")) {
      take(""); // white space
      continue;
    }
    return take(")") ? Status() : refuse("the end of a tuple");
  }
  return {};
}

Status DictionaryReader::entry(NpyHeader &header) {
  std::string key;
  ASTRA_TRY(text(key));
  if (!take(":") || !seen.insert(key).second)
    return refuse("a new key and its value");
  if (key == "descr")
    return text(header.descr);
  if (key == "fortran_order")
    return boolean(header.fortranOrder);
  if (key == "shape")
    return tuple(header.shape);
  return refuse("one of the keys descr, fortran_order, shape");
}

Status DictionaryReader::read(NpyHeader &header) {
  if (!take("{"))
    return refuse("a dictionary");
  while (!take("}")) {
    ASTRA_TRY(entry(header));
    if (take(","))
      continue;
    if (!take("}"))
      return refuse("the end of the dictionary");
    break;
  }
  take(""); // white space
  if (next != end || seen.size() != 3)
    return refuse("descr, fortran_order and shape and nothing else");
  return {};
}

} // namespace

Status readNpyHeader(const std::string &bytes, NpyHeader &header,
                     size_t &dataStart) {
  if (bytes.size() < magicBytes + 4 ||
      std::memcmp(bytes.data(), magic, magicBytes) != 0)
    return fail(ASTRA_ERROR_CORRUPT_FILE, "it is no npy file");
  unsigned version = static_cast<unsigned char>(bytes[magicBytes]);
  if (version < 1 || version > 3)
    return fail(ASTRA_ERROR_UNSUPPORTED_VERSION, "it has npy version ", version,
                ", but versions 1 to 3 are known");
  size_t lengthBytes = version == 1 ? 2 : 4;
  size_t start = magicBytes + 2 + lengthBytes;
  uint32_t length = 0;
  if (bytes.size() >= start)
    std::memcpy(&length, bytes.data() + magicBytes + 2, lengthBytes);
  if (bytes.size() < start || length > bytes.size() - start)
    return fail(ASTRA_ERROR_CORRUPT_FILE, "it is truncated: its header has ",
                length, " bytes, but the file has ", bytes.size());
  dataStart = start + length;
  return DictionaryReader(bytes.data() + start, length).read(header);
}

std::string makeNpyHeader(const NpyHeader &header) {
  std::string text =
      join("{'descr': '", header.descr,
           "', 'fortran_order': ", header.fortranOrder ? "True" : "False",
           ", 'shape': (");
  for (size_t axis = 0; axis < header.shape.size(); ++axis)
    text += join(axis ? ", " : "", header.shape[axis]);
  text += header.shape.size() == 1 ? ",), }" : "), }";
  size_t start = magicBytes + 4;
  text.resize((start + text.size() + 1 + 63) / 64 * 64 - start - 1, ' ');
  text += '\n';
  uint16_t length = uint16_t(text.size());
  std::string bytes(magic, magicBytes);
  bytes += std::string("\x01\x00", 2);
  bytes.append(reinterpret_cast<const char *>(&length), 2);
  return bytes + text;
}

} // namespace astra
