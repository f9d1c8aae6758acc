// Reverse-mode differentiation of a block: walks its operations from last to
// first and builds the cotangents of what they used, with the rules that the
// operations state. Control flow, whose rules need this walk for their regions,
// is in ReverseControl.cpp.
#ifndef ASTRA_PASSES_REVERSEMODE_H
#define ASTRA_PASSES_REVERSEMODE_H

#include "passes/Activity.h"
#include "passes/Cotangents.h"

namespace astra {

class ReverseMode {
public:
  /// New operations go where the builder stands.
  ReverseMode(mlir::OpBuilder &builder, Activity &activity)
      : builder(builder), activity(activity) {}

  /// `cotangents` holds those of the block's results on entry, and on return
  /// those of its arguments and of the values from outside that it uses.
  mlir::LogicalResult walk(mlir::Block &block, Cotangents &cotangents);

private:
  mlir::LogicalResult visit(mlir::Operation &op, Cotangents &cotangents);
  mlir::LogicalResult visitWithRule(mlir::Operation &op,
                                    Cotangents &cotangents);
  mlir::LogicalResult visitSelect(SelectOp op, Cotangents &cotangents);
  mlir::LogicalResult visitCustom(CustomDerivativeOp op,
                                  Cotangents &cotangents);
  mlir::LogicalResult visitRemat(RematOp op, Cotangents &cotangents);

  mlir::OpBuilder &builder;
  Activity &activity;
};

} // namespace astra
#endif // ASTRA_PASSES_REVERSEMODE_H
