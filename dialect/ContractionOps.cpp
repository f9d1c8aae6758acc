// The shape rule of contractions.
#include "dialect/Checks.h"

using namespace mlir;

namespace astra {

static SmallVector<int64_t> freeAxes(int64_t rank, ArrayRef<int64_t> batch,
                                     ArrayRef<int64_t> contract) {
  SmallVector<int64_t> axes;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(batch, axis) && !llvm::is_contained(contract, axis))
      axes.push_back(axis);
  return axes;
}

SmallVector<int64_t> ContractOp::getFreeA() {
  return freeAxes(getLhs().getType().getRank(), getBatchA(), getContractA());
}
SmallVector<int64_t> ContractOp::getFreeB() {
  return freeAxes(getRhs().getType().getRank(), getBatchB(), getContractB());
}

static bool areDistinctAxes(int64_t rank, ArrayRef<int64_t> batch,
                            ArrayRef<int64_t> contract) {
  SmallVector<int64_t> all(batch);
  all.append(contract.begin(), contract.end());
  llvm::sort(all);
  return areAscendingAxes(all, rank);
}

LogicalResult ContractOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location> loc,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  TensorType a = getTensorType(adaptor.getLhs());
  TensorType b = getTensorType(adaptor.getRhs());
  ArrayRef<int64_t> batchA = adaptor.getBatchA(), batchB = adaptor.getBatchB();
  ArrayRef<int64_t> sumA = adaptor.getContractA(),
                    sumB = adaptor.getContractB();
  if (batchA.size() != batchB.size() || sumA.size() != sumB.size())
    return broken<ContractOp>(loc, "(C1) the lists of axes differ in length");
  if (!areDistinctAxes(a.getRank(), batchA, sumA) ||
      !areDistinctAxes(b.getRank(), batchB, sumB))
    return broken<ContractOp>(
        loc, "(C2) an axis is listed twice or is none of its operand's");
  auto samePairs = [&](ArrayRef<int64_t> left, ArrayRef<int64_t> right) {
    return llvm::all_of(llvm::zip_equal(left, right), [&](auto pair) {
      return a.getDims()[std::get<0>(pair)] == b.getDims()[std::get<1>(pair)];
    });
  };
  if (!samePairs(batchA, batchB) || !samePairs(sumA, sumB))
    return broken<ContractOp>(loc, "(C3) paired extents differ: ", a, " and ",
                              b);
  if (a.getElementType() != b.getElementType())
    return broken<ContractOp>(loc, "(C4) the element types differ");
  SmallVector<StringAttr> dims;
  for (int64_t axis : batchA)
    dims.push_back(a.getDims()[axis]);
  for (int64_t axis : freeAxes(a.getRank(), batchA, sumA))
    dims.push_back(a.getDims()[axis]);
  for (int64_t axis : freeAxes(b.getRank(), batchB, sumB))
    dims.push_back(b.getDims()[axis]);
  types.push_back(a.withDims(dims));
  return success();
}

} // namespace astra
