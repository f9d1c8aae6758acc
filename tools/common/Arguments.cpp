// See Arguments.h.
#include "tools/common/Arguments.h"
#include "tools/common/Names.h"
#include <cctype>
#include <cstdlib>

namespace astra {
namespace {

/// Sums of products of names, numbers and sums in parentheses, with division
/// and remainder that round down: what the runtime writes extents with.
class ExtentReader {
public:
  ExtentReader(const std::string &text,
               const std::map<std::string, int64_t> &dims)
      : next(text.c_str()), dims(dims) {}

  bool read(int64_t &value, std::string &why) {
    value = sum();
    skip();
    if (problem.empty() && *next)
      problem = std::string("\"") + next + "\" is not understood";
    why = problem;
    return problem.empty();
  }

private:
  void skip() {
    while (*next == ' ')
      ++next;
  }
  bool take(char sign) {
    skip();
    if (*next != sign)
      return false;
    ++next;
    return true;
  }

  int64_t sum() {
    int64_t value = take('-') ? -product() : product();
    for (;;) {
      if (take('+'))
        value += product();
      else if (take('-'))
        value -= product();
      else
        return value;
    }
  }

  int64_t product() {
    int64_t value = factor();
    for (;;) {
      bool divides = false;
      if (take('*'))
        value *= factor();
      else if ((divides = take('/')) || take('%'))
        value = divide(value, factor(), divides);
      else
        return value;
    }
  }

  int64_t divide(int64_t value, int64_t by, bool quotient) {
    if (by == 0) {
      problem = "an extent divides by zero";
      return 0;
    }
    int64_t rest = value % by;
    bool isLower = rest != 0 && (rest < 0) != (by < 0);
    return quotient ? value / by - isLower : rest + (isLower ? by : 0);
  }

  int64_t factor() {
    if (take('(')) {
      int64_t value = sum();
      if (!take(')') && problem.empty())
        problem = "a parenthesis is not closed";
      return value;
    }
    skip();
    if (std::isdigit(static_cast<unsigned char>(*next))) {
      char *end = nullptr;
      int64_t value = std::strtoll(next, &end, 10);
      next = end;
      return value;
    }
    return name();
  }

  int64_t name() {
    const char *begin = next;
    while (std::isalnum(static_cast<unsigned char>(*next)) || *next == '_' ||
           *next == '@')
      ++next;
    std::string word(begin, next);
    auto found = dims.find(word);
    if (found != dims.end())
      return found->second;
    if (problem.empty())
      problem = word.empty() ? std::string("\"") + next + "\" is not understood"
                             : "the dimension " + word +
                                   " is not stated: add " + word + "=NUMBER";
    return 0;
  }

  const char *next;
  const std::map<std::string, int64_t> &dims;
  std::string problem;
};

/// The elements of an input that nobody stated.
class MadeUp {
public:
  void fill(uint32_t dtype, double *stated, std::vector<char> &bytes) {
    size_t width = getDtypeBytes(dtype);
    for (size_t i = 0; i < bytes.size(); i += width)
      put(dtype, stated ? *stated : isFloat(dtype) ? between() : 0, &bytes[i]);
  }

private:
  static bool isFloat(uint32_t dtype) {
    return dtype >> 24 == ASTRA_CLASS_FLOAT ||
           dtype >> 24 == ASTRA_CLASS_BFLOAT;
  }

  double between() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return double(int64_t(state) >> 11) / double(int64_t(1) << 52);
  }

  template <class T> static void store(T value, char *to) {
    std::memcpy(to, &value, sizeof value);
  }

  static void put(uint32_t dtype, double value, char *to) {
    float narrow = float(value);
    uint32_t bits;
    std::memcpy(&bits, &narrow, sizeof bits);
    if (dtype == ASTRA_F64)
      return store(value, to);
    if (dtype == ASTRA_F32)
      return store(narrow, to);
    if (dtype == ASTRA_BF16)
      return store(uint16_t(bits >> 16), to);
    if (dtype == ASTRA_F16)
      return store(halfOf(bits), to);
    int64_t whole = int64_t(value);
    std::memcpy(to, &whole, getDtypeBytes(dtype)); // little-endian
  }

  /// Rounded towards zero; tiny numbers become 0 and great ones infinite.
  static uint16_t halfOf(uint32_t bits) {
    int32_t exponent = int32_t(bits >> 23 & 255) - 112;
    uint32_t sign = bits >> 16 & 0x8000, fraction = bits >> 13 & 1023;
    if (exponent <= 0)
      return uint16_t(sign);
    return exponent >= 31
               ? uint16_t(sign | 0x7c00)
               : uint16_t(sign | uint32_t(exponent) << 10 | fraction);
  }

  uint64_t state = 1;
};

/// One call's words, each of which has to be used.
class Words {
public:
  bool read(const std::vector<std::string> &words, std::string &why) {
    for (const std::string &word : words) {
      size_t sign = word.find('=');
      if (sign == std::string::npos || sign == 0 || sign + 1 == word.size()) {
        why = "`" + word + "` is not of the form NAME=VALUE";
        return false;
      }
      all[word.substr(0, sign)] = word.substr(sign + 1);
    }
    return true;
  }
  /// Takes the value of a name out.
  bool take(const std::string &name, std::string &value) {
    auto found = all.find(name);
    if (found == all.end())
      return false;
    value = found->second;
    all.erase(found);
    return true;
  }
  std::string firstName() const {
    return all.empty() ? "" : all.begin()->first;
  }

private:
  std::map<std::string, std::string> all;
};

bool readNumber(const std::string &text, double &value) {
  char *end = nullptr;
  value = std::strtod(text.c_str(), &end);
  return end != text.c_str() && !*end;
}

class InputMaker {
public:
  InputMaker(const Device &device, const Function &function, Words &words)
      : device(device), function(function), words(words) {}

  bool makeAll(std::vector<Tensor> &inputs, std::string &why) {
    Result<astra_function_info_t> info = function.info();
    if (!info)
      return why = info.error().what(), false;
    for (size_t i = 0; i < info->dim_count; ++i) {
      std::string value;
      double number = 0;
      if (!words.take(info->dim_names[i], value))
        continue;
      if (!readNumber(value, number))
        return why = "`" + value + "` is not a number", false;
      dims[info->dim_names[i]] = int64_t(number);
    }
    for (size_t i = 0; i < info->input_count; ++i)
      if (!make(i, inputs, why))
        return false;
    std::string unknown = words.firstName();
    if (!unknown.empty())
      why = "`" + unknown + "` is neither a dimension nor an input of `" +
            info->name + "`";
    return unknown.empty();
  }

private:
  bool make(size_t index, std::vector<Tensor> &inputs, std::string &why) {
    Result<astra_leaf_info_t> leaf = function.input(index);
    if (!leaf)
      return why = leaf.error().what(), false;
    std::string value;
    bool isStated = words.take(leaf->path, value);
    bool isFile = isStated && value.size() > 4 &&
                  value.compare(value.size() - 4, 4, ".npy") == 0;
    double number = 0;
    if (isStated && !isFile && !readNumber(value, number))
      return why = "`" + value + "` is neither a number nor a .npy file", false;
    Result<Tensor> tensor =
        isFile ? load(value) : fill(*leaf, isStated ? &number : nullptr, why);
    if (!why.empty())
      return false;
    if (!tensor)
      return why = tensor.error().what(), false;
    inputs.push_back(std::move(*tensor));
    return true;
  }

  Result<Tensor> load(const std::string &path) {
    return detail::make<Tensor, astra_tensor_t>(
        device.runtime(), [&](astra_tensor_t *tensor, astra_error_t **error) {
          return astra_npy_load(device.runtime(), path.c_str(), device.get(),
                                tensor, error);
        });
  }

  Result<Tensor> fill(const astra_leaf_info_t &leaf, double *stated,
                      std::string &why) {
    std::vector<int64_t> shape(leaf.rank);
    size_t bytes = getDtypeBytes(leaf.dtype);
    for (uint32_t axis = 0; axis < leaf.rank; ++axis) {
      if (!evaluateExtent(leaf.shape[axis], dims, shape[axis], why))
        return Tensor();
      if (shape[axis] < 0 ||
          __builtin_mul_overflow(bytes, size_t(shape[axis]), &bytes) ||
          bytes > size_t(1) << 40) {
        why = std::string("the extent ") + leaf.shape[axis] + " of `" +
              leaf.path + "` is out of range";
        return Tensor();
      }
    }
    std::vector<char> elements(bytes);
    madeUp.fill(leaf.dtype, stated, elements);
    return detail::make<Tensor, astra_tensor_t>(
        device.runtime(), [&](astra_tensor_t *tensor, astra_error_t **error) {
          return astra_tensor_from_data(device.runtime(), device.get(),
                                        leaf.dtype, leaf.rank, shape.data(),
                                        elements.data(), bytes, tensor, error);
        });
  }

  const Device &device;
  const Function &function;
  Words &words;
  std::map<std::string, int64_t> dims;
  MadeUp madeUp;
};

} // namespace

bool evaluateExtent(const std::string &text,
                    const std::map<std::string, int64_t> &dims, int64_t &value,
                    std::string &why) {
  return ExtentReader(text, dims).read(value, why);
}

bool makeInputs(const Device &device, const Function &function,
                const std::vector<std::string> &stated,
                std::vector<Tensor> &inputs, std::string &why) {
  Words words;
  return words.read(stated, why) &&
         InputMaker(device, function, words).makeAll(inputs, why);
}

} // namespace astra
