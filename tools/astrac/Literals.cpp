// See Literals.h.
#include "tools/astrac/Literals.h"
#include "astra/base.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include <charconv>
#include <cmath>
#include <cstring>

using namespace astra;
using llvm::StringRef;

namespace {
constexpr unsigned MostNested = ASTRA_MAX_RANK;
/// Longer results are for files.
constexpr size_t MostPrinted = 10000;

uint32_t getClass(uint32_t dtype) { return dtype >> 24; }
unsigned getBits(uint32_t dtype) { return (dtype >> 8) & 0xffff; }
unsigned getBytes(uint32_t dtype) { return (getBits(dtype) + 7) / 8; }

const llvm::fltSemantics &getSemantics(uint32_t dtype) {
  if (getClass(dtype) == ASTRA_CLASS_BFLOAT)
    return llvm::APFloat::BFloat();
  switch (getBits(dtype)) {
  case 16:
    return llvm::APFloat::IEEEhalf();
  case 32:
    return llvm::APFloat::IEEEsingle();
  default:
    return llvm::APFloat::IEEEdouble();
  }
}

bool isFloatClass(uint32_t dtype) {
  return getClass(dtype) == ASTRA_CLASS_FLOAT ||
         getClass(dtype) == ASTRA_CLASS_BFLOAT;
}

bool parseFloat(StringRef word, uint32_t dtype, uint64_t &bits) {
  const llvm::fltSemantics &semantics = getSemantics(dtype);
  StringRef magnitude = word;
  bool negative = magnitude.consume_front("-");
  llvm::APFloat value(semantics);
  if (magnitude == "inf") {
    value = llvm::APFloat::getInf(semantics, negative);
  } else if (magnitude == "nan") {
    value = llvm::APFloat::getQNaN(semantics);
  } else {
    if (magnitude.empty() || !llvm::isDigit(magnitude.front()) ||
        magnitude.find_first_not_of("0123456789.eE+-") != StringRef::npos)
      return false;
    auto status =
        value.convertFromString(word, llvm::APFloat::rmNearestTiesToEven);
    if (!status) {
      llvm::consumeError(status.takeError());
      return false;
    }
    if (*status & llvm::APFloat::opOverflow)
      return false; // as in a program
  }
  bits = value.bitcastToAPInt().getZExtValue();
  return true;
}

bool parseInteger(StringRef word, uint32_t dtype, uint64_t &bits) {
  unsigned width = getBits(dtype);
  if (getClass(dtype) == ASTRA_CLASS_INT) {
    int64_t value;
    if (word.getAsInteger(10, value) || !llvm::isIntN(width, value))
      return false;
    bits = uint64_t(value);
    return true;
  }
  return !word.getAsInteger(10, bits) && llvm::isUIntN(width, bits);
}

class LiteralParser {
public:
  LiteralParser(StringRef text, uint32_t dtype, Literal &literal,
                std::string &error)
      : text(text), dtype(dtype), literal(literal), error(error) {}

  bool run() {
    if (!parse(0))
      return false;
    skip();
    return text.empty() ||
           fail("`" + text.take_front(20).str() + "` stands behind the value");
  }

private:
  void skip() { text = text.ltrim(); }
  bool fail(std::string why) {
    error = std::move(why);
    return false;
  }
  bool parse(unsigned depth);
  bool parseList(unsigned depth);
  bool parseElement(unsigned depth);

  StringRef text;
  uint32_t dtype;
  Literal &literal;
  std::string &error;
  int leafDepth = -1;
};

bool LiteralParser::parse(unsigned depth) {
  skip();
  return text.starts_with("[") ? parseList(depth) : parseElement(depth);
}

bool LiteralParser::parseList(unsigned depth) {
  if (depth >= MostNested)
    return fail("more than " + std::to_string(MostNested) + " axes");
  if (leafDepth == int(depth))
    return fail("a number and a list stand side by side");
  text = text.drop_front();
  int64_t count = 0;
  skip();
  while (!text.consume_front("]")) {
    if (count && !text.consume_front(","))
      return fail("`,` or `]` is missing");
    if (!parse(depth + 1))
      return false;
    ++count;
    skip();
  }
  if (literal.shape.size() <= depth)
    literal.shape.resize(depth + 1, -1);
  int64_t &extent = literal.shape[depth];
  if (extent != -1 && extent != count)
    return fail("lists of one level have " + std::to_string(extent) + " and " +
                std::to_string(count) + " elements");
  extent = count;
  return true;
}

bool LiteralParser::parseElement(unsigned depth) {
  if (leafDepth != -1 && leafDepth != int(depth))
    return fail("a number and a list stand side by side");
  leafDepth = int(depth);
  StringRef word = text.take_while(
      [](char c) { return c != ',' && c != ']' && c != '[' && !isspace(c); });
  text = text.drop_front(word.size());
  if (word.empty())
    return fail("a value is missing");
  uint64_t bits = 0;
  bool good = false;
  if (getClass(dtype) == ASTRA_CLASS_BOOL) {
    good = word == "true" || word == "false";
    bits = word == "true";
  } else {
    good = isFloatClass(dtype) ? parseFloat(word, dtype, bits)
                               : parseInteger(word, dtype, bits);
  }
  if (!good)
    return fail("`" + word.str() + "` is no " + getDTypeName(dtype));
  const char *raw = reinterpret_cast<const char *>(&bits);
  literal.bytes.insert(literal.bytes.end(), raw, raw + getBytes(dtype));
  return true;
}

template <typename T> void printFloat(llvm::raw_ostream &os, T value) {
  if (std::isnan(value) || std::isinf(value)) {
    os << (std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
    return;
  }
  char buffer[64];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  StringRef text(buffer, end - buffer);
  os << text;
  if (text.find_first_of(".e") == StringRef::npos)
    os << ".0";
}

void printElement(llvm::raw_ostream &os, const char *data, uint32_t dtype) {
  uint64_t bits = 0;
  std::memcpy(&bits, data, getBytes(dtype));
  unsigned width = getBits(dtype);
  if (getClass(dtype) == ASTRA_CLASS_BOOL) {
    os << (bits ? "true" : "false");
  } else if (getClass(dtype) == ASTRA_CLASS_UINT) {
    os << bits;
  } else if (getClass(dtype) == ASTRA_CLASS_INT) {
    os << (width == 64 ? int64_t(bits) : llvm::SignExtend64(bits, width));
  } else if (width == 64) {
    printFloat(os, llvm::bit_cast<double>(bits));
  } else {
    llvm::APFloat value(getSemantics(dtype), llvm::APInt(width, bits));
    bool inexact;
    value.convert(llvm::APFloat::IEEEsingle(),
                  llvm::APFloat::rmNearestTiesToEven, &inexact);
    printFloat(os, value.convertToFloat());
  }
}

void printAxis(llvm::raw_ostream &os, const Literal &tensor, uint32_t dtype,
               size_t axis, const char *&data) {
  if (axis == tensor.shape.size()) {
    printElement(os, data, dtype);
    data += getBytes(dtype);
    return;
  }
  os << "[";
  bool last = axis + 1 == tensor.shape.size();
  for (int64_t i = 0; i < tensor.shape[axis]; ++i) {
    if (i) {
      os << (last ? ", " : ",\n");
      if (!last)
        os.indent(axis + 1);
    }
    printAxis(os, tensor, dtype, axis + 1, data);
  }
  os << "]";
}
} // namespace

bool astra::parseLiteral(StringRef text, uint32_t dtype, Literal &literal,
                         std::string &error) {
  return LiteralParser(text, dtype, literal, error).run();
}

void astra::printTensor(llvm::raw_ostream &os, const Literal &tensor,
                        uint32_t dtype) {
  if (tensor.bytes.size() / getBytes(dtype) > MostPrinted) {
    os << getTensorName(dtype, tensor.shape)
       << " (too long to print: write it with -o FILE.npy)\n";
    return;
  }
  const char *data = tensor.bytes.data();
  printAxis(os, tensor, dtype, 0, data);
  os << "\n";
}

std::string astra::getDTypeName(uint32_t dtype) {
  std::string width = std::to_string(getBits(dtype));
  switch (getClass(dtype)) {
  case ASTRA_CLASS_BOOL:
    return "bool";
  case ASTRA_CLASS_INT:
    return "i" + width;
  case ASTRA_CLASS_UINT:
    return "u" + width;
  case ASTRA_CLASS_FLOAT:
    return "f" + width;
  case ASTRA_CLASS_BFLOAT:
    return "bf" + width;
  default:
    return "dtype 0x" + llvm::utohexstr(dtype);
  }
}

std::string astra::getTensorName(uint32_t dtype,
                                 const std::vector<int64_t> &shape) {
  std::string text = getDTypeName(dtype);
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "[") + std::to_string(shape[i]);
  return shape.empty() ? text : text + "]";
}
