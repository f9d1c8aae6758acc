// The passes that take transformations out of a program: after the first there
// are no derivatives left, after the second no maps.
#ifndef ASTRA_PASSES_TRANSFORMPASSES_H
#define ASTRA_PASSES_TRANSFORMPASSES_H

#include <memory>

namespace mlir {
class Pass;
}

namespace astra {

/// `astra-differentiate`.
std::unique_ptr<mlir::Pass> createDifferentiatePass();
/// `astra-batch`.
std::unique_ptr<mlir::Pass> createBatchPass();
/// Makes both known to astra-opt.
void registerTransformPasses();

} // namespace astra
#endif // ASTRA_PASSES_TRANSFORMPASSES_H
