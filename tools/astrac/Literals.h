// Tensors as text: what stands on a command line for an argument, and how a
// result is printed. Knows dtypes and bytes, no runtime.
#ifndef ASTRA_TOOLS_ASTRAC_LITERALS_H
#define ASTRA_TOOLS_ASTRAC_LITERALS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <string>
#include <vector>

namespace astra {

struct Literal {
  std::vector<int64_t> shape;
  std::vector<char> bytes; // dense, row-major
};

/// "1.5", "[1, 2]", "[[true], [false]]" as elements of `dtype`; false with a
/// sentence in `error`.
bool parseLiteral(llvm::StringRef text, uint32_t dtype, Literal &literal,
                  std::string &error);

/// Prints elements so that reading them back gives the same bits.
void printTensor(llvm::raw_ostream &os, const Literal &tensor, uint32_t dtype);

/// "f32"; "dtype 0x..." for one that is not known.
std::string getDTypeName(uint32_t dtype);
/// "f32[2, 3]"
std::string getTensorName(uint32_t dtype, const std::vector<int64_t> &shape);

} // namespace astra
#endif // ASTRA_TOOLS_ASTRAC_LITERALS_H
