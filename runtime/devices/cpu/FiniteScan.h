// Whether a tensor has a NaN or an infinity, by its bits. Touches no
// floating-point state.
#ifndef ASTRA_RUNTIME_FINITESCAN_H
#define ASTRA_RUNTIME_FINITESCAN_H

#include "astra/module.h"

namespace astra {

/// Which of `wanted` (ASTRA_CHECK_*) an element of a view is; none for a dtype
/// that has neither.
uint32_t findNotFinite(const astra_arg_t &view, uint32_t wanted);

} // namespace astra
#endif // ASTRA_RUNTIME_FINITESCAN_H
