// Rows of a fused kernel one after the other, each in chunks of the canonical
// order, whose lanes the blocks fill. Rows are taken in small batches, so that
// what is done once a row is done for a whole vector of them. Few long rows are
// cut over the threads.
#ifndef ASTRA_KERNELS_FUSEDALONG_H
#define ASTRA_KERNELS_FUSEDALONG_H

#include "kernels/FusedShape.h"

ASTRA_KERNELS_BEGIN

class FusedAlong {
public:
  explicit FusedAlong(const FusedShape &shape) : shape(shape) {
    // Rows that fit in the first cache together, as far as a vector goes.
    batch = shape.length > 0 ? 4096 / shape.length : blockLanes;
    batch = batch < 1 ? 1 : batch > blockLanes ? blockLanes : batch;
    padded = roundToBlocks(shape.length);
    const astra_fused_desc_t &plan = shape.plan;
    for (uint64_t s = 0; s < plan.slot_count; ++s)
      if (plan.slots[s].kind == ASTRA_SLOT_ROW) {
        room[s] = roomBytes;
        roomBytes += (batch * padded * shape.widths[s] + 63) & -64;
      }
    // Behind them the chunks that are not used in place.
    int64_t operands = 0;
    for (uint64_t s = 0; s < plan.stage_count; ++s) {
      const astra_stage_desc_t &stage = plan.stages[s];
      int64_t count = stage.input_count + stage.output_count;
      operands = count > operands ? count : operands;
    }
    chunkRoom = roomBytes;
    roomBytes += operands * chunkBytes;
  }

  /// Few long rows: one after the other, the chunks of a row on all threads.
  astra_outcome_t runWide(const astra_call_t *call) const {
    Scratch<char> memory(call, roomBytes);
    Scratch<FoldValue> values(call, chunkCount() * FusedShape::mostFolds);
    if (!memory || !values)
      return ASTRA_ERROR_OUT_OF_MEMORY;
    Worker worker(*this, memory.get());
    for (int64_t r = 0; r < shape.rows.size(); ++r)
      if (!worker.runWideRow(call, r, values.get()))
        return ASTRA_ERROR_OUT_OF_MEMORY;
    return ASTRA_OK;
  }

  /// What one thread works with.
  class Worker {
  public:
    Worker(const FusedAlong &of, char *memory)
        : of(of), shape(of.shape), memory(memory),
          chunks(memory + of.chunkRoom) {
      std::memset(lanes, 0, sizeof(lanes));
      std::memset(values, 0, sizeof(values));
    }

    void runBatch(int64_t first, int64_t count) {
      shape.rows.offsetsFrom(first, count, offsets);
      for (uint64_t s = 0; s < shape.plan.stage_count; ++s) {
        const astra_stage_desc_t &stage = shape.plan.stages[s];
        if (stage.per_row)
          runValues(stage, count);
        else
          runRows(stage, count);
      }
    }

    /// One long row; `sums` has room for mostFolds values a chunk.
    bool runWideRow(const astra_call_t *call, int64_t row, FoldValue *sums) {
      shape.rows.offsetsFrom(row, 1, offsets);
      for (uint64_t s = 0; s < shape.plan.stage_count; ++s) {
        const astra_stage_desc_t &stage = shape.plan.stages[s];
        if (stage.per_row)
          runValues(stage, 1);
        else if (!runWidePass(call, stage, sums))
          return false;
      }
      return true;
    }

  private:
    /// One value a row: the lanes are the rows.
    void runValues(const astra_stage_desc_t &stage, int64_t count) {
      int operands = int(stage.input_count + stage.output_count);
      for (int k = 0; k < operands; ++k) {
        int64_t slot = stage.slots[k], width = shape.widths[slot];
        masks[k] = -1;
        data[k] = values[slot];
        if (shape.kindOf(slot) == ASTRA_SLOT_ARG && k < int(stage.input_count))
          for (int64_t r = 0; r < count; ++r)
            std::memcpy(values[slot] + r * width,
                        shape.base[slot] + offsets[r][slot], size_t(width));
      }
      stage.code[blockLevel](data, masks, blockLanes);
      for (int k = int(stage.input_count); k < operands; ++k) {
        int64_t slot = stage.slots[k], width = shape.widths[slot];
        if (shape.kindOf(slot) == ASTRA_SLOT_ARG)
          for (int64_t r = 0; r < count; ++r)
            std::memcpy(shape.base[slot] + offsets[r][slot],
                        values[slot] + r * width, size_t(width));
      }
    }

    void runRows(const astra_stage_desc_t &stage, int64_t count) {
      prepareStage(stage);
      for (int64_t r = 0; r < count; ++r)
        runRow(stage, r);
    }

    /// A pass over row r of the batch, chunk by chunk.
    void runRow(const astra_stage_desc_t &stage, int64_t r) {
      prepareRow(stage, r);
      if (of.chunkCount() == 1) {
        runChunk(stage, r, 0);
        shape.forEachFold(stage, [&](int fold, int64_t slot) {
          const astra_slot_desc_t &desc = shape.plan.slots[slot];
          folded[fold].fold(desc).write(desc, valueOf(slot, r));
        });
        return;
      }
      FoldState folds[FusedShape::mostFolds];
      for (int64_t chunk = 0; chunk < of.chunkCount(); ++chunk) {
        runChunk(stage, r, chunk);
        shape.forEachFold(stage, [&](int fold, int64_t slot) {
          const astra_slot_desc_t &desc = shape.plan.slots[slot];
          folds[fold].add(desc, folded[fold].fold(desc));
        });
      }
      finishFolds(stage, r, folds);
    }

    /// The value of a row in a slot that has one a row.
    char *valueOf(int64_t slot, int64_t r) {
      return values[slot] + r * shape.widths[slot];
    }

    /// The same on all threads; false if there is no memory.
    bool runWidePass(const astra_call_t *call, const astra_stage_desc_t &stage,
                     FoldValue *sums) {
      bool enough = true;
      constexpr int most = FusedShape::mostFolds;
      parallelFor(call, of.chunkCount(), 32, [&](int64_t begin, int64_t end) {
        Scratch<char> memoryOfPiece(call, of.roomBytes - of.chunkRoom);
        if (!memoryOfPiece) {
          __atomic_store_n(&enough, false, __ATOMIC_RELAXED);
          return;
        }
        Worker piece(*this);
        piece.chunks = memoryOfPiece.get();
        piece.prepareStage(stage);
        piece.prepareRow(stage, 0);
        for (int64_t chunk = begin; chunk < end; ++chunk) {
          piece.runChunk(stage, 0, chunk);
          shape.forEachFold(stage, [&](int fold, int64_t slot) {
            sums[chunk * most + fold] =
                piece.folded[fold].fold(shape.plan.slots[slot]);
          });
        }
      });
      FoldState folds[most];
      for (int64_t chunk = 0; chunk < of.chunkCount(); ++chunk)
        shape.forEachFold(stage, [&](int fold, int64_t slot) {
          folds[fold].add(shape.plan.slots[slot], sums[chunk * most + fold]);
        });
      finishFolds(stage, 0, folds);
      return enough;
    }

    void finishFolds(const astra_stage_desc_t &stage, int64_t r,
                     FoldState *folds) {
      shape.forEachFold(stage, [&](int fold, int64_t slot) {
        folds[fold].finish(shape.plan.slots[slot], valueOf(slot, r));
      });
    }

    /// What the operands of a stage are: one value a row (mask 0), lanes of a
    /// fold, or elements in place or through a buffer.
    void prepareStage(const astra_stage_desc_t &stage) {
      int inputs = int(stage.input_count);
      for (int k = 0; k < inputs + int(stage.output_count); ++k) {
        int64_t slot = stage.slots[k];
        uint32_t kind = shape.kindOf(slot);
        bool isInput = k < inputs;
        bool uniform =
            kind == ASTRA_SLOT_SCALAR || (shape.isFold(kind) && isInput);
        buffered[k] = false;
        if (kind == ASTRA_SLOT_ARG) {
          uniform = isInput && shape.isPerRow(slot);
          buffered[k] = !uniform && !(shape.row.isOneRun() &&
                                      shape.row.innerStride(int(slot)) ==
                                          shape.widths[slot]);
        }
        masks[k] = uniform ? 0 : shape.isFold(kind) ? blockLanes : -1;
      }
    }

    /// The operands that are one value for the whole row.
    void prepareRow(const astra_stage_desc_t &stage, int64_t r) {
      for (int k = 0; k < int(stage.input_count); ++k)
        if (!masks[k]) {
          int64_t slot = stage.slots[k];
          repeat(shape.kindOf(slot) == ASTRA_SLOT_ARG
                     ? shape.base[slot] + offsets[r][slot]
                     : valueOf(slot, r),
                 shape.widths[slot], lanes[k]);
        }
    }

    /// One chunk of a row; what is folded fills the lanes of `folded`.
    void runChunk(const astra_stage_desc_t &stage, int64_t r, int64_t chunk) {
      int inputs = int(stage.input_count),
          operands = inputs + int(stage.output_count), nextBuffer = 0;
      int64_t at = chunk * foldChunkSize, rest = shape.length - at;
      int64_t n = rest < foldChunkSize ? rest : foldChunkSize;
      int64_t whole = wholeBlocks(n);
      for (int k = 0; k < inputs; ++k)
        data[k] = locate(stage.slots[k], k, true, r, at, n, nextBuffer);
      for (int k = inputs, fold = 0; k < operands; ++k)
        data[k] = shape.isFold(shape.kindOf(stage.slots[k]))
                      ? clear(folded[fold++], stage.slots[k])
                      : locate(stage.slots[k], k, false, r, at, n, nextBuffer);
      if (whole)
        stage.code[blockLevel](data, masks, whole);
      if (whole < n)
        runRest(stage, whole, n - whole);
      for (int k = inputs; k < operands; ++k)
        if (buffered[k])
          moveRow(stage.slots[k], r, at, n, static_cast<char *>(data[k]),
                  /*out=*/true);
    }

    void *clear(FoldLanes &fold, int64_t slot) {
      fold.clear(shape.plan.slots[slot]);
      return &fold;
    }

    /// Where the elements [at, at + n) of an operand are.
    void *locate(int64_t slot, int k, bool isInput, int64_t r, int64_t at,
                 int64_t n, int &nextBuffer) {
      int64_t width = shape.widths[slot];
      if (!masks[k])
        return lanes[k];
      if (shape.kindOf(slot) == ASTRA_SLOT_ROW)
        return memory + of.room[slot] + (r * of.padded + at) * width;
      if (!buffered[k])
        return shape.base[slot] + offsets[r][slot] + at * width;
      char *buffer = chunks + chunkBytes * nextBuffer++;
      if (isInput)
        moveRow(slot, r, at, n, buffer, /*out=*/false);
      return buffer;
    }

    /// Copies elements of a row of an argument to or from a buffer.
    void moveRow(int64_t slot, int64_t r, int64_t at, int64_t n, char *buffer,
                 bool out) {
      int64_t width = shape.widths[slot],
              stride = shape.row.innerStride(int(slot));
      char *start = shape.base[slot] + offsets[r][slot];
      if (shape.row.isOneRun()) {
        start += at * stride;
        return out ? scatter(buffer, n, width, start, stride)
                   : gather(start, stride, n, width, buffer);
      }
      shape.row.walk(at, at + n, [&](const FusedOffsets &offset, int64_t run) {
        if (out)
          scatter(buffer, run, width, start + offset[slot], stride);
        else
          gather(start + offset[slot], stride, run, width, buffer);
        buffer += run * width;
      });
    }

    /// Fewer elements than a vector has: arguments in place are copied, and
    /// only these elements join what is folded.
    void runRest(const astra_stage_desc_t &stage, int64_t done, int64_t n) {
      int inputs = int(stage.input_count),
          operands = inputs + int(stage.output_count);
      void *rest[mostFusedArgs];
      for (int k = 0, fold = 0; k < operands; ++k) {
        int64_t slot = stage.slots[k], width = shape.widths[slot];
        if (isFolded(stage, k)) {
          rest[k] = clear(restFolded[fold++], slot);
          continue;
        }
        rest[k] =
            masks[k] ? static_cast<char *>(data[k]) + done * width : data[k];
        if (!isInPlace(slot, k))
          continue;
        if (k < inputs)
          std::memcpy(lanes[k], rest[k], size_t(n * width));
        rest[k] = lanes[k];
      }
      stage.code[blockLevel](rest, masks, blockLanes);
      for (int k = inputs, fold = 0; k < operands; ++k) {
        int64_t slot = stage.slots[k], width = shape.widths[slot];
        if (isFolded(stage, k)) {
          folded[fold].join(shape.plan.slots[slot], restFolded[fold],
                            done & blockLanes, n);
          ++fold;
        } else if (isInPlace(slot, k)) {
          std::memcpy(static_cast<char *>(data[k]) + done * width, rest[k],
                      size_t(n * width));
        }
      }
    }

    bool isFolded(const astra_stage_desc_t &stage, int k) const {
      return k >= int(stage.input_count) &&
             shape.isFold(shape.kindOf(stage.slots[k]));
    }
    bool isInPlace(int64_t slot, int k) const {
      return shape.kindOf(slot) == ASTRA_SLOT_ARG && masks[k] && !buffered[k];
    }

    static constexpr int64_t laneBytes = blockLanes * 8;

    const FusedAlong &of;
    const FusedShape &shape;
    char *memory; // of rows that are kept
    char *chunks; // of operands that are not used in place
    FusedOffsets offsets[blockLanes];
    bool buffered[mostFusedArgs];
    int64_t masks[mostFusedArgs];
    void *data[mostFusedArgs];
    alignas(64) FoldLanes folded[FusedShape::mostFolds];
    alignas(64) FoldLanes restFolded[FusedShape::mostFolds];
    alignas(64) char values[mostFusedArgs][laneBytes];
    alignas(64) char lanes[mostFusedArgs][laneBytes];
  };

  int64_t batch, roomBytes = 0;

private:
  static constexpr int64_t chunkBytes = foldChunkSize * 8;

  int64_t chunkCount() const {
    return (shape.length + foldChunkSize - 1) / foldChunkSize;
  }

  const FusedShape &shape;
  int64_t padded, chunkRoom;
  int64_t room[mostFusedArgs];
};

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_FUSEDALONG_H
