// Rows of a fused kernel side by side: element j of all rows of a batch stands
// before element j + 1 of any. Lanes of the blocks are then rows, so that short
// rows fill whole vectors, folds need no work across lanes, and rows that stand
// so in memory are read as they are. A row is at most one chunk of the
// canonical order.
#ifndef ASTRA_KERNELS_FUSEDBESIDE_H
#define ASTRA_KERNELS_FUSEDBESIDE_H

#include "kernels/FusedShape.h"
#include "kernels/FusedTranspose.h"

ASTRA_KERNELS_BEGIN

class FusedBeside {
  static constexpr int64_t mostRows = 64;

public:
  explicit FusedBeside(const FusedShape &shape) : shape(shape) {
    // What fits in the first cache, but for long rows.
    for (batch = blockLanes; batch < mostRows; batch *= 2)
      if (2 * batch * shape.length > 2048 || batch >= shape.rows.size())
        break;
    const astra_fused_desc_t &plan = shape.plan;
    for (uint64_t s = 0; s < plan.slot_count; ++s) {
      uint32_t kind = plan.slots[s].kind;
      room[s] = roomBytes;
      if (shape.isFold(kind))
        roomBytes += laneCount() * batch * 8;
      else if (kind == ASTRA_SLOT_ROW ||
               (kind == ASTRA_SLOT_ARG && !isPerRow(int64_t(s))))
        roomBytes += batch * shape.length * shape.widths[s];
    }
  }

  /// What one thread works with.
  class Worker {
  public:
    Worker(const FusedBeside &of, char *memory)
        : of(of), shape(of.shape), memory(memory) {}

    void runBatch(int64_t first, int64_t count) {
      if (count < of.batch)
        clearAll();
      runs = 0;
      shape.rows.walk(first, first + count,
                      [&](const FusedOffsets &offset, int64_t n) {
                        Run &run = run_[runs++];
                        run.count = n;
                        std::memcpy(run.offset, offset, sizeof(offset));
                      });
      std::memset(loaded, 0, sizeof(loaded));
      for (uint64_t s = 0; s < shape.plan.stage_count; ++s)
        runStage(shape.plan.stages[s]);
    }

  private:
    /// Lanes without a row are computed too.
    void clearAll() {
      std::memset(values, 0, sizeof(values[0]) * shape.plan.slot_count);
      std::memset(memory, 0, size_t(of.roomBytes));
    }

    /// Neighbours along the rows' last axis.
    struct Run {
      int64_t count;
      FusedOffsets offset;
    };

    void runStage(const astra_stage_desc_t &stage) {
      int inputs = int(stage.input_count),
          operands = inputs + int(stage.output_count);
      int64_t batch = of.batch, total = batch * shape.length;
      for (int k = 0; k < operands; ++k)
        prepare(stage, k, k < inputs);
      stage.code[blockLevel](data, masks, stage.per_row ? batch : total);
      for (int k = inputs; k < operands; ++k) {
        int64_t slot = stage.slots[k];
        if (shape.isFold(shape.kindOf(slot)))
          foldRows(slot);
        else if (shape.kindOf(slot) == ASTRA_SLOT_ARG &&
                 !isWrittenAgain(stage, slot))
          move(slot, stage.per_row, static_cast<char *>(data[k]),
               /*out=*/true);
      }
    }

    /// Whether what a stage writes only waits in the slot for a later one.
    bool isWrittenAgain(const astra_stage_desc_t &stage, int64_t slot) const {
      const astra_stage_desc_t *later = &stage + 1,
                               *end =
                                   shape.plan.stages + shape.plan.stage_count;
      for (; later < end; ++later)
        for (uint32_t k = 0; k < later->output_count; ++k)
          if (later->slots[later->input_count + k] == slot)
            return true;
      return false;
    }

    void prepare(const astra_stage_desc_t &stage, int k, bool isInput) {
      int64_t slot = stage.slots[k];
      uint32_t kind = shape.kindOf(slot);
      bool isArg = kind == ASTRA_SLOT_ARG;
      bool perRow = stage.per_row || kind == ASTRA_SLOT_SCALAR ||
                    (isArg ? of.isPerRow(slot) : shape.isFold(kind) && isInput);
      masks[k] = perRow ? of.batch - 1 : -1;
      data[k] = perRow ? values[slot] : memory + of.room[slot];
      if (isArg && isInput && !loaded[perRow][slot])
        move(slot, perRow, static_cast<char *>(data[k]), /*out=*/false);
      loaded[perRow][slot] = true;
      if (!isInput && !stage.per_row && shape.isFold(kind)) {
        masks[k] = foldLaneCount * of.batch - 1;
        clear(slot);
      }
    }

    /// Copies an argument, values or elements of rows, to or from a buffer.
    void move(int64_t slot, bool perRow, char *buffer, bool out) {
      int64_t width = shape.widths[slot], step = of.batch * width;
      Plane plane = {perRow ? 0 : shape.row.innerStride(int(slot)),
                     shape.rows.innerStride(int(slot)), step};
      for (int i = 0; i < runs; ++i) {
        char *start = shape.base[slot] + run_[i].offset[slot], *to = buffer;
        if (perRow)
          copyPlane(start, to, plane, 1, run_[i].count, width, out);
        else
          shape.row.walk(0, shape.length,
                         [&](const FusedOffsets &offset, int64_t n) {
                           copyPlane(start + offset[slot], to, plane, n,
                                     run_[i].count, width, out);
                           to += n * step;
                         });
        buffer += run_[i].count * width;
      }
    }

    void clear(int64_t slot) {
      dispatchFold(shape.plan.slots[slot], [&](auto operation, auto zero) {
        using C = decltype(zero);
        C *x = reinterpret_cast<C *>(memory + of.room[slot]);
        for (int64_t i = 0; i < of.laneCount() * of.batch; ++i)
          x[i] = decltype(operation)::template identity<C>();
      });
    }

    /// From lanes to the value of each row.
    void foldRows(int64_t slot) {
      const astra_slot_desc_t &desc = shape.plan.slots[slot];
      dispatchFold(desc, [&](auto operation, auto zero) {
        using C = decltype(zero);
        using Op = decltype(operation);
        C *x = reinterpret_cast<C *>(memory + of.room[slot]);
        int64_t batch = of.batch, present = of.laneCount();
        for (int64_t half = foldLaneCount / 2; half; half /= 2) {
          for (int64_t i = 0; i < (present - half) * batch; ++i)
            x[i] = Op::template apply<C>(x[i], x[half * batch + i]);
          present = present < half ? present : half;
        }
        for (int64_t r = 0; r < batch; ++r)
          writeFolded(desc, present ? x[r] : Op::template identity<C>(),
                      values[slot] + r * shape.widths[slot]);
      });
    }

    const FusedBeside &of;
    const FusedShape &shape;
    char *memory; // elements of rows and lanes of folds, for each slot
    int runs = 0;
    Run run_[mostRows];
    bool loaded[2][mostFusedArgs]; // elements, values
    int64_t masks[mostFusedArgs];
    void *data[mostFusedArgs];
    alignas(64) char values[mostFusedArgs][mostRows * 8];
  };

  int64_t batch, roomBytes = 0;

private:
  /// Lanes that get an element; the others have no part in the value.
  int64_t laneCount() const {
    return shape.length < foldLaneCount ? shape.length : foldLaneCount;
  }
  /// Rows of one element are elements.
  bool isPerRow(int64_t slot) const {
    return shape.length > 1 && shape.isPerRow(slot);
  }

  const FusedShape &shape;
  int64_t room[mostFusedArgs];
};

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_FUSEDBESIDE_H
