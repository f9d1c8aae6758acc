// Products of which a fused kernel without folds takes every element (the rows
// *_map of kernels.def): it gets the result box by box while that is in cache.
// The arguments are the product's operands, then those of the fused kernel but
// the product; the parameters are the fused kernel's description, the place of
// the product among its arguments, and the product's own. Elements of the
// product wait where an output will be, if one has their type and lies by
// itself, else in scratch memory.
#ifndef ASTRA_KERNELS_FUSEDPRODUCT_H
#define ASTRA_KERNELS_FUSEDPRODUCT_H

#include "kernels/FusedMap.h"
#include <optional>

ASTRA_KERNELS_BEGIN

/// One call of such a kernel.
class ProductMap {
public:
  /// Of a product of so many operands.
  ASTRA_SHARED ProductMap(const astra_arg_t *args, const int64_t *params,
                          int64_t operands)
      : plan(*reinterpret_cast<const astra_fused_desc_t *>(
            uintptr_t(params[0]))),
        place(params[1]), own(params + 2), args(args), operands(operands) {
    int64_t inputs = plan.stages[0].input_count, count = plan.arg_count;
    const astra_arg_t *next = args + operands;
    for (int64_t i = 0; i < count; ++i) {
      widths[i] = widthOf(plan.slots[i].dtype);
      if (i != place)
        views[i] = *next++;
    }
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
    int64_t strides[ASTRA_MAX_RANK], stride = 1;
    if (!hasRoom) {
      for (uint32_t d = result().rank; d-- > 0; stride *= result().shape[d])
        strides[d] = stride;
      views[place].strides = strides;
      views[place].data =
          memory.emplace(call, stride * widths[place] + 1).get();
      if (!views[place].data)
        return ASTRA_ERROR_OUT_OF_MEMORY;
    }
    astra_outcome_t outcome = product(call, alone().all, own);
    return outcome == ASTRA_OK ? FusedMap(plan, views, widths).run(call)
                               : outcome;
  }

  const astra_fused_desc_t &plan;
  const int64_t place;
  const int64_t *own;               // parameters of the product
  astra_arg_t views[mostFusedArgs]; // of the fused kernel
  int64_t widths[mostFusedArgs];
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

/// The map on boxes of the result, whose axes are in three groups.
class FusedBoxes {
public:
  struct Axes {
    uint32_t begin, end;
  };
  /// Some rows and columns of a product of the batch. Their elements are at
  /// `kept`, so many elements apart, if the result has no room.
  struct Box {
    int64_t batch, row, rows, column, columns;
    void *kept;
    int64_t keptRow, keptColumn;
  };

  ASTRA_SHARED FusedBoxes(const ProductMap &map, Axes batch, Axes rows,
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

  const ProductMap &map;
  FusedNest batch, rows, columns;
};

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_FUSEDPRODUCT_H
