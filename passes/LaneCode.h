// The vector forms of the elementwise operations (kernels/lanes), which astrac
// carries as bitcode. Knows LLVM, nothing of what they compute.
#ifndef ASTRA_PASSES_LANECODE_H
#define ASTRA_PASSES_LANECODE_H

#include "llvm/IR/Module.h"
#include <string>

namespace astra {

/// Links those that the module calls into it, as internal functions without a
/// processor level. On failure `error` says why.
bool linkLanes(llvm::Module &module, std::string &error);

} // namespace astra
#endif // ASTRA_PASSES_LANECODE_H
