// Inputs of a function from words like "n=512", "m.w=w.npy" and "rate=0.1";
// what is not stated is made up, since profiles seldom depend on values.
#ifndef ASTRA_TOOLS_COMMON_ARGUMENTS_H
#define ASTRA_TOOLS_COMMON_ARGUMENTS_H

#include "astra/astra.hpp"
#include <map>

namespace astra {

/// The value of "2*n + 1" and the like; false with a sentence.
bool evaluateExtent(const std::string &text,
                    const std::map<std::string, int64_t> &dims, int64_t &value,
                    std::string &why);

/// Tensors for all inputs; false with a sentence. Elements that are made up are
/// the same each time: floats between -1 and 1, integers and bools 0.
bool makeInputs(const Device &device, const Function &function,
                const std::vector<std::string> &words,
                std::vector<Tensor> &inputs, std::string &why);

} // namespace astra
#endif // ASTRA_TOOLS_COMMON_ARGUMENTS_H
