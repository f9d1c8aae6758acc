// Writing the elements of a tensor to a file, as every format here wants them.
#ifndef ASTRA_RUNTIME_WRITE_H
#define ASTRA_RUNTIME_WRITE_H

#include "core/Tensor.h"
#include "io/File.h"

namespace astra {

/// Dense, row-major, each NaN the canonical one of its type. The tensor must be
/// ready.
Status writeElements(astra_runtime &runtime, const Tensor &tensor,
                     FileWriter &file);

} // namespace astra
#endif // ASTRA_RUNTIME_WRITE_H
