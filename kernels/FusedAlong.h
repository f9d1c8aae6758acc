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
      std::memset(offsets, 0, sizeof(offsets));
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

    /// A pass over the rows of the batch. What rows of one chunk fold comes
    /// last: the rows do not wait for one another then.
    void runRows(const astra_stage_desc_t &stage, int64_t count) {
      prepareStage(stage);
      if (of.chunkCount() != 1) {
        for (int64_t r = 0; r < count; ++r)
          runLongRow(stage, r);
        return;
      }
      for (int64_t r = 0; r < count; ++r) {
        prepareRow(stage, r);
        runChunk(stage, r, 0, r);
      }
      shape.forEachFold(stage, [&](int fold, int64_t slot) {
        const astra_slot_desc_t &desc = shape.plan.slots[slot];
        FoldValue row[blockLanes];
        foldChunks(desc, folded[fold], count, row);
        for (int64_t r = 0; r < count; ++r)
          row[r].write(desc, valueOf(slot, r));
      });
    }

    /// A pass over row r of the batch, chunk by chunk.
    void runLongRow(const astra_stage_desc_t &stage, int64_t r) {
      prepareRow(stage, r);
      FoldState folds[FusedShape::mostFolds];
      for (int64_t chunk = 0; chunk < of.chunkCount(); ++chunk) {
        runChunk(stage, r, chunk, 0);
        shape.forEachFold(stage, [&](int fold, int64_t slot) {
          const astra_slot_desc_t &desc = shape.plan.slots[slot];
          FoldValue value;
          foldChunks(desc, folded[fold], 1, &value);
          folds[fold].add(desc, value);
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
          piece.runChunk(stage, 0, chunk, 0);
          shape.forEachFold(stage, [&](int fold, int64_t slot) {
            foldChunks(shape.plan.slots[slot], piece.folded[fold], 1,
                       &sums[chunk * most + fold]);
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
      int inputs = int(stage.input_count), nextBuffer = 0, fold = 0;
      anyBuffered = false;
      for (int k = 0; k < inputs + int(stage.output_count); ++k) {
        int64_t slot = stage.slots[k], width = shape.widths[slot];
        uint32_t kind = shape.kindOf(slot);
        bool isInput = k < inputs, isArg = kind == ASTRA_SLOT_ARG;
        bool uniform = isArg ? isInput && shape.isPerRow(slot)
                             : kind == ASTRA_SLOT_SCALAR ||
                                   (shape.isFold(kind) && isInput);
        buffered[k] = isArg && !uniform &&
                      !(shape.row.isOneRun() &&
                        shape.row.innerStride(int(slot)) == width);
        anyBuffered = anyBuffered || buffered[k];
        masks[k] = uniform ? 0 : shape.isFold(kind) ? blockLanes : -1;
        if (uniform)
          places[k] = {lanes[k], 0, 0, 0};
        else if (buffered[k])
          places[k] = {chunks + chunkBytes * nextBuffer++, 0, 0, 0};
        else if (isArg)
          places[k] = {shape.base[slot], 0, width, -1};
        else if (kind == ASTRA_SLOT_ROW)
          places[k] = {memory + of.room[slot], of.padded * width, width, 0};
        else
          places[k] = {reinterpret_cast<char *>(folded[fold]),
                       int64_t(sizeof(FoldLanes)), 0, 0};
        if (!isInput && shape.isFold(kind))
          empty[fold++].clear(shape.plan.slots[slot]);
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

    /// One chunk of row r; what is folded fills lanes number `to`.
    void runChunk(const astra_stage_desc_t &stage, int64_t r, int64_t chunk,
                  int64_t to) {
      int inputs = int(stage.input_count),
          operands = inputs + int(stage.output_count);
      int64_t at = chunk * foldChunkSize, rest = shape.length - at;
      int64_t n = rest < foldChunkSize ? rest : foldChunkSize;
      int64_t whole = wholeBlocks(n);
      for (int k = 0, fold = 0; k < operands; ++k) {
        data[k] = places[k].find(isFolded(k) ? to : r, at,
                                 offsets[r][stage.slots[k]]);
        if (isFolded(k))
          std::memcpy(data[k], &empty[fold++], sizeof(FoldLanes));
      }
      if (anyBuffered)
        moveBuffers(stage, 0, inputs, r, at, n);
      if (whole)
        stage.code[blockLevel](data, masks, whole);
      if (whole < n)
        runRest(stage, whole, n - whole, to);
      if (anyBuffered)
        moveBuffers(stage, inputs, operands, r, at, n);
    }

    /// Elements [at, at + n) of the operands [begin, end) that have buffers:
    /// inputs are read, outputs written.
    void moveBuffers(const astra_stage_desc_t &stage, int begin, int end,
                     int64_t r, int64_t at, int64_t n) {
      for (int k = begin; k < end; ++k)
        if (buffered[k])
          moveRow(stage.slots[k], r, at, n, static_cast<char *>(data[k]),
                  /*out=*/k >= int(stage.input_count));
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
    void runRest(const astra_stage_desc_t &stage, int64_t done, int64_t n,
                 int64_t to) {
      int inputs = int(stage.input_count),
          operands = inputs + int(stage.output_count);
      void *rest[mostFusedArgs];
      for (int k = 0, fold = 0; k < operands; ++k) {
        int64_t slot = stage.slots[k], width = shape.widths[slot];
        if (isFolded(k)) {
          restFolded[fold] = empty[fold];
          rest[k] = &restFolded[fold++];
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
        if (isFolded(k)) {
          folded[fold][to].join(shape.plan.slots[slot], restFolded[fold],
                                done & blockLanes, n);
          ++fold;
        } else if (isInPlace(slot, k)) {
          std::memcpy(static_cast<char *>(data[k]) + done * width, rest[k],
                      size_t(n * width));
        }
      }
    }

    bool isFolded(int k) const { return masks[k] == blockLanes; }
    bool isInPlace(int64_t slot, int k) const {
      return shape.kindOf(slot) == ASTRA_SLOT_ARG && masks[k] && !buffered[k];
    }

    static constexpr int64_t laneBytes = blockLanes * 8;

    /// Where an operand of a stage begins, and what its elements are apart.
    struct Place {
      char *start;
      int64_t row, element; // from one to the next
      int64_t argument;     // mask of what an argument's row begins at

      char *find(int64_t r, int64_t at, int64_t offset) const {
        return start + r * row + at * element + (offset & argument);
      }
    };

    const FusedAlong &of;
    const FusedShape &shape;
    char *memory; // of rows that are kept
    char *chunks; // of operands that are not used in place
    FusedOffsets offsets[blockLanes];
    bool buffered[mostFusedArgs], anyBuffered;
    Place places[mostFusedArgs];
    int64_t masks[mostFusedArgs];
    void *data[mostFusedArgs];
    alignas(64) FoldLanes empty[FusedShape::mostFolds];
    alignas(64) FoldLanes folded[FusedShape::mostFolds][blockLanes];
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
