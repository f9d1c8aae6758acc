// Products with fused kernels without folds around them: one takes every
// element of the result (the rows *_map of kernels.def), box by box while that
// is in cache, or one makes every element of an operand (the rows map_*), box
// by box before it is packed. The arguments are the product's operands, then
// those of the fused kernel but the product; the parameters are the fused
// kernel's description, the place of the product among its arguments, and the
// product's own. Elements of the product wait where an output will be, if one
// has their type and lies by itself, else in scratch memory. Where an operand
// is made, its maker's inputs stand in its place among the arguments, and
// before the parameters are the maker's description and which operand that is.
#ifndef ASTRA_KERNELS_FUSEDPRODUCT_H
#define ASTRA_KERNELS_FUSEDPRODUCT_H

#include "kernels/FusedMap.h"
#include <cstdlib>
#include <optional>

ASTRA_KERNELS_BEGIN

/// A fused kernel, its views, and which of them is a product's.
struct FusedViews {
  explicit FusedViews(const astra_fused_desc_t &plan) : plan(plan) {
    for (uint32_t i = 0; i < plan.arg_count; ++i)
      widths[i] = widthOf(plan.slots[i].dtype);
  }
  FusedViews(const FusedViews &) = delete;
  FusedViews &operator=(const FusedViews &) = delete;

  /// What a parameter says.
  static const astra_fused_desc_t &planOf(int64_t param) {
    return *reinterpret_cast<const astra_fused_desc_t *>(uintptr_t(param));
  }

  const astra_fused_desc_t &plan;
  int64_t place = 0;
  astra_arg_t views[mostFusedArgs];
  int64_t widths[mostFusedArgs];
};

/// Row-major strides; gives the number of elements.
inline int64_t layOutDense(const astra_arg_t &view, int64_t *strides) {
  int64_t stride = 1;
  for (uint32_t d = view.rank; d-- > 0; stride *= view.shape[d])
    strides[d] = stride;
  return stride;
}

/// One call of a kernel that takes a result.
class ProductMap : public FusedViews {
public:
  /// Of a product of so many operands.
  ASTRA_SHARED ProductMap(const astra_arg_t *args, const int64_t *params,
                          int64_t operands)
      : FusedViews(planOf(params[0])), own(params + 2), args(args),
        operands(operands) {
    place = params[1];
    int64_t inputs = plan.stages[0].input_count, count = plan.arg_count;
    const astra_arg_t *next = args + operands;
    for (int64_t i = 0; i < count; ++i)
      if (i != place)
        views[i] = *next++;
    views[place] = {nullptr, views[inputs].shape, views[inputs].strides,
                    plan.slots[place].dtype, views[inputs].rank};
    for (int64_t i = inputs; i < count && !hasRoom; ++i)
      if (plan.slots[i].dtype == plan.slots[place].dtype && isApart(i)) {
        views[place] = views[i];
        hasRoom = true;
      }
  }

  /// The product's result: in an output or, without data, laid out like one.
  const astra_arg_t &result() const { return views[place]; }
  ASTRA_SHARED int64_t size() const {
    int64_t size = 1;
    for (uint32_t d = 0; d < result().rank; ++d)
      size *= result().shape[d];
    return size;
  }

  /// The product's operands and its result, as its kernel takes them.
  struct Operands {
    astra_arg_t all[3 * ASTRA_MAX_RANK + 3];
  };
  ASTRA_SHARED Operands alone() const {
    Operands result;
    std::memcpy(result.all, args, sizeof(astra_arg_t) * size_t(operands));
    result.all[operands] = views[place];
    return result;
  }

  /// All of the product, by its kernel, and then the map.
  ASTRA_SHARED astra_outcome_t runInTurn(const astra_call_t *call,
                                         astra_kernel_fn product) {
    std::optional<Scratch<char>> memory;
    int64_t strides[ASTRA_MAX_RANK];
    if (!hasRoom) {
      int64_t count = layOutDense(result(), strides);
      views[place].strides = strides;
      views[place].data = memory.emplace(call, count * widths[place] + 1).get();
      if (!views[place].data)
        return ASTRA_ERROR_OUT_OF_MEMORY;
    }
    astra_outcome_t outcome = product(call, alone().all, own);
    return outcome == ASTRA_OK ? FusedMap(plan, views, widths).run(call)
                               : outcome;
  }

  const int64_t *own;   // parameters of the product
  bool hasRoom = false; // in an output

private:
  /// Does an output share no memory with what is read?
  ASTRA_SHARED bool isApart(int64_t output) const {
    for (int64_t i = 0; i < operands; ++i)
      if (args[i].data == views[output].data)
        return false;
    for (int64_t i = 0; i < plan.stages[0].input_count; ++i)
      if (i != place && views[i].data == views[output].data)
        return false;
    return true;
  }

  const astra_arg_t *args;
  int64_t operands;
};

/// An operand that a fused kernel makes: its last view, the only result.
class MadeOperand : public FusedViews {
public:
  ASTRA_SHARED MadeOperand(const astra_arg_t *inputs, int64_t param)
      : FusedViews(planOf(param)) {
    place = int64_t(plan.arg_count) - 1;
    std::memcpy(views, inputs, sizeof(astra_arg_t) * size_t(place));
    views[place] = {nullptr, inputs[0].shape, strides, plan.slots[place].dtype,
                    inputs[0].rank};
    count = layOutDense(views[place], strides);
  }

  int64_t inputs() const { return place; }

  /// The arguments of the product, `others` behind its operands, with the
  /// operand, laid out row by row without data, where its maker's inputs are.
  void putInPlace(const astra_arg_t *args, int64_t operand, int64_t others,
                  astra_arg_t *to) const {
    to[operand] = views[place];
    to[1 - operand] = args[operand ? 0 : place];
    std::memcpy(to + 2, args + place + 1, sizeof(astra_arg_t) * size_t(others));
  }

  /// Runs a kernel of the product after the whole operand was made in memory.
  ASTRA_SHARED astra_outcome_t runWhole(const astra_call_t *call,
                                        astra_arg_t *all, int64_t operand,
                                        const int64_t *params,
                                        astra_kernel_fn product) {
    Scratch<char> memory(call, count * widths[place] + 1);
    if (!memory)
      return ASTRA_ERROR_OUT_OF_MEMORY;
    views[place].data = memory.get();
    FusedMap(plan, views, widths).run(call);
    all[operand] = views[place];
    return product(call, all, params);
  }

  /// Do neighbours along one axis lie farther apart, in all inputs together,
  /// than those along another?
  bool isFarther(uint32_t axis, uint32_t other) const {
    int64_t sum = 0;
    for (int64_t i = 0; i < place; ++i)
      sum += widths[i] * (std::abs(views[i].strides[axis]) -
                          std::abs(views[i].strides[other]));
    return sum > 0;
  }

private:
  int64_t count, strides[ASTRA_MAX_RANK];
};

/// A fused kernel on boxes of what it shares with a product, whose axes are in
/// three groups.
class FusedBoxes {
public:
  struct Axes {
    uint32_t begin, end;
  };
  /// Some rows and columns of a product of the batch. Their elements are at
  /// `kept`, so many elements apart, if they have no place else.
  struct Box {
    int64_t batch, row, rows, column, columns;
    void *kept;
    int64_t keptRow, keptColumn;
  };

  ASTRA_SHARED FusedBoxes(const FusedViews &map, Axes batch, Axes rows,
                          Axes columns)
      : map(map), batch(nestOver(batch)), rows(nestOver(rows)),
        columns(nestOver(columns)) {}

  ASTRA_SHARED void run(const Box &box) const {
    FusedOffsets start;
    batch.offsetsFrom(box.batch, 1, &start);
    Box part = box; // whose place is counted from the box's
    part.row = 0;
    rows.walk(box.row, box.row + box.rows,
              [&](const FusedOffsets &atRow, int64_t rowRun) {
                part.rows = rowRun;
                part.column = 0;
                columns.walk(box.column, box.column + box.columns,
                             [&](const FusedOffsets &atColumn, int64_t run) {
                               part.columns = run;
                               runPart(part, start, atRow, atColumn);
                               part.column += run;
                             });
                part.row += rowRun;
              });
  }

private:
  ASTRA_SHARED FusedNest nestOver(Axes axes) const {
    return FusedNest(map.views, map.widths, int(map.plan.arg_count), axes.begin,
                     axes.end, FusedNest::RowMajor);
  }

  /// A box along one axis of rows and one of columns.
  void runPart(const Box &box, const FusedOffsets &start,
               const FusedOffsets &atRow, const FusedOffsets &atColumn) const {
    int64_t shape[2] = {box.rows, box.columns}, strides[mostFusedArgs][2];
    astra_arg_t views[mostFusedArgs];
    for (uint32_t i = 0; i < map.plan.arg_count; ++i) {
      char *data = static_cast<char *>(map.views[i].data);
      if (i == map.place && box.kept) {
        data = static_cast<char *>(box.kept) +
               (box.row * box.keptRow + box.column * box.keptColumn) *
                   map.widths[i];
        strides[i][0] = box.keptRow;
        strides[i][1] = box.keptColumn;
      } else {
        data += start[i] + atRow[i] + atColumn[i];
        strides[i][0] = rows.innerStride(int(i)) / map.widths[i];
        strides[i][1] = columns.innerStride(int(i)) / map.widths[i];
      }
      views[i] = {data, shape, strides[i], 0, 2};
    }
    FusedMap(map.plan, views, map.widths).runHere();
  }

  const FusedViews &map;
  FusedNest batch, rows, columns;
};

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_FUSEDPRODUCT_H
