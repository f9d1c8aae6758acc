// Rows of a fused kernel one after the other, each in chunks of the canonical
// order, whose lanes the blocks fill. Rows are taken in small batches, so that
// what is done once a row is done for a whole vector of them. Few long rows are
// cut over the threads.
#ifndef ASTRA_KERNELS_FUSEDALONG_H
#define ASTRA_KERNELS_FUSEDALONG_H

#include "kernels/FusedShape.h"

ASTRA_KERNELS_BEGIN

class FusedAlong {
  /// An operand of a stage, and its slot.
  struct Operand {
    int operand;
    int64_t slot;
  };

  /// Where an operand begins, and what its elements are apart.
  struct Place : Operand {
    char *start;
    int64_t row, element; // from one to the next
    int64_t argument;     // mask of what an argument's row begins at

    char *find(int64_t r, int64_t at, const FusedOffsets &offset) const {
      return start + r * row + at * element + (offset[slot] & argument);
    }
  };

  /// A stage, and what its operands are.
  struct Pass {
    const astra_stage_desc_t *stage;
    int moving, uniforms, folds;
    bool anyBuffered;
    bool buffered[mostFusedArgs];
    Operand folded[FusedShape::mostFolds]; // joined by elements
    Place uniform[mostFusedArgs];          // one value a row
    Place place[mostFusedArgs];            // elements in place
    void *data[mostFusedArgs];             // what blocks are called with
    int64_t masks[mostFusedArgs];
    FoldLanes empty[FusedShape::mostFolds];
  };

public:
  explicit FusedAlong(const FusedShape &shape) : shape(shape) {
    // Rows that fit in the first cache together, as far as a vector goes. A
    // softmax does not ask for the place of the next rows' results
    // (passes/StageSlots.h).
    int64_t elements = isSoftmax() ? 3072 : 2048;
    batch = shape.length > 0 ? elements / shape.length : blockLanes;
    batch = batch < 1 ? 1 : batch > blockLanes ? blockLanes : batch;
    padded = roundToBlocks(shape.length);
    const astra_fused_desc_t &plan = shape.plan;
    for (uint64_t s = 0; s < plan.slot_count; ++s)
      if (plan.slots[s].kind == ASTRA_SLOT_ROW) {
        room[s] = roomBytes;
        roomBytes += (batch * padded * shape.widths[s] + 63) & -64;
      }
    // Behind them what is known of the passes, and the chunks that are not used
    // in place.
    passRoom = roomBytes;
    roomBytes += (int64_t(plan.stage_count * sizeof(Pass)) + 63) & -64;
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
      passes = reinterpret_cast<Pass *>(memory + of.passRoom);
      for (uint64_t s = 0; s < shape.plan.stage_count; ++s)
        prepare(passes[s], shape.plan.stages[s]);
    }

    void runBatch(int64_t first, int64_t count) {
      shape.rows.offsetsFrom(first, count, offsets);
      for (uint64_t s = 0; s < shape.plan.stage_count; ++s) {
        const astra_stage_desc_t &stage = shape.plan.stages[s];
        if (stage.per_row)
          runValues(passes[s], count);
        else
          runRows(passes[s], count);
      }
    }

    /// One long row; `sums` has room for mostFolds values a chunk.
    bool runWideRow(const astra_call_t *call, int64_t row, FoldValue *sums) {
      shape.rows.offsetsFrom(row, 1, offsets);
      for (uint64_t s = 0; s < shape.plan.stage_count; ++s) {
        const astra_stage_desc_t &stage = shape.plan.stages[s];
        if (stage.per_row)
          runValues(passes[s], 1);
        else if (!runWidePass(call, passes[s], sums))
          return false;
      }
      return true;
    }

  private:
    /// One value a row: the lanes are the rows.
    void runValues(Pass &pass, int64_t count) {
      auto move = [&](const Place &place, bool out) {
        int64_t slot = place.slot, width = place.element;
        for (int64_t r = 0; r < count; ++r) {
          char *from = place.find(r, 0, offsets[r]), *to = valueOf(slot, r);
          std::memcpy(out ? from : to, out ? to : from, size_t(width));
        }
      };
      for (int i = 0; i < pass.uniforms; ++i)
        move(pass.uniform[i], /*out=*/false);
      pass.stage->code[blockLevel](pass.data, pass.masks, blockLanes);
      for (int i = 0; i < pass.moving; ++i)
        move(pass.place[i], /*out=*/true);
    }

    /// A pass over the rows of the batch. What rows of one chunk fold comes
    /// last: the rows do not wait for one another then.
    void runRows(Pass &pass, int64_t count) {
      if (of.chunkCount() != 1) {
        for (int64_t r = 0; r < count; ++r)
          runLongRow(pass, r);
        return;
      }
      for (int64_t r = 0; r < count; ++r) {
        prepareRow(pass, r);
        runChunk(pass, r, 0, r);
      }
      for (int fold = 0; fold < pass.folds; ++fold) {
        int64_t slot = pass.folded[fold].slot;
        const astra_slot_desc_t &desc = shape.plan.slots[slot];
        FoldValue row[blockLanes];
        foldChunks(desc, folded[fold], count, row);
        writeRows<blockLanes>(desc, row, count, values[slot]);
      }
    }

    /// A pass over row r of the batch, chunk by chunk.
    void runLongRow(Pass &pass, int64_t r) {
      prepareRow(pass, r);
      FoldState folds[FusedShape::mostFolds];
      for (int64_t chunk = 0; chunk < of.chunkCount(); ++chunk) {
        runChunk(pass, r, chunk, 0);
        for (int fold = 0; fold < pass.folds; ++fold) {
          const astra_slot_desc_t &desc = descOf(pass, fold);
          FoldValue value;
          foldChunks(desc, folded[fold], 1, &value);
          folds[fold].add(desc, value);
        }
      }
      finishFolds(pass, r, folds);
    }

    /// The value of a row in a slot that has one a row.
    char *valueOf(int64_t slot, int64_t r) {
      return values[slot] + r * shape.widths[slot];
    }

    /// The same on all threads; false if there is no memory.
    bool runWidePass(const astra_call_t *call, Pass &pass, FoldValue *sums) {
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
        Pass own;
        piece.prepare(own, *pass.stage);
        piece.prepareRow(own, 0);
        for (int64_t chunk = begin; chunk < end; ++chunk) {
          piece.runChunk(own, 0, chunk, 0);
          for (int fold = 0; fold < own.folds; ++fold)
            foldChunks(descOf(own, fold), piece.folded[fold], 1,
                       &sums[chunk * most + fold]);
        }
      });
      FoldState folds[most];
      for (int64_t chunk = 0; chunk < of.chunkCount(); ++chunk)
        for (int fold = 0; fold < pass.folds; ++fold)
          folds[fold].add(descOf(pass, fold), sums[chunk * most + fold]);
      finishFolds(pass, 0, folds);
      return enough;
    }

    void finishFolds(const Pass &pass, int64_t r, FoldState *folds) {
      for (int fold = 0; fold < pass.folds; ++fold)
        folds[fold].finish(descOf(pass, fold),
                           valueOf(pass.folded[fold].slot, r));
    }

    const astra_slot_desc_t &descOf(const Pass &pass, int fold) const {
      return shape.plan.slots[pass.folded[fold].slot];
    }

    /// What the operands of a stage are: one value a row (mask 0), lanes of a
    /// fold, or elements in place or through a buffer.
    void prepare(Pass &pass, const astra_stage_desc_t &stage) {
      int inputs = int(stage.input_count), nextBuffer = 0;
      pass.stage = &stage;
      pass.anyBuffered = false;
      pass.moving = pass.uniforms = pass.folds = 0;
      if (stage.per_row)
        return prepareValues(pass);
      for (int k = 0; k < inputs + int(stage.output_count); ++k) {
        int64_t slot = stage.slots[k], width = shape.widths[slot];
        uint32_t kind = shape.kindOf(slot);
        bool isInput = k < inputs, isArg = kind == ASTRA_SLOT_ARG;
        bool uniform = isArg ? isInput && shape.isPerRow(slot)
                             : kind == ASTRA_SLOT_SCALAR ||
                                   (shape.isFold(kind) && isInput);
        bool buffered = isArg && !uniform &&
                        !(shape.row.isOneRun() &&
                          shape.row.innerStride(int(slot)) == width);
        pass.buffered[k] = buffered;
        pass.anyBuffered = pass.anyBuffered || buffered;
        pass.masks[k] = uniform ? 0 : shape.isFold(kind) ? blockLanes : -1;
        if (uniform) {
          pass.data[k] = lanes[k];
          pass.uniform[pass.uniforms++] =
              isArg ? Place{{k, slot}, shape.base[slot], 0, width, -1}
                    : Place{{k, slot}, values[slot], width, width, 0};
        } else if (buffered) {
          pass.data[k] = chunks + chunkBytes * nextBuffer++;
        } else if (isArg) {
          pass.place[pass.moving++] = {
              {k, slot}, shape.base[slot], 0, width, -1};
        } else if (kind == ASTRA_SLOT_ROW) {
          pass.place[pass.moving++] = {
              {k, slot}, memory + of.room[slot], of.padded * width, width, 0};
        } else {
          pass.empty[pass.folds].clear(shape.plan.slots[slot]);
          pass.folded[pass.folds++] = {k, slot};
        }
      }
    }

    /// A stage of one value a row: arguments are copied.
    void prepareValues(Pass &pass) {
      const astra_stage_desc_t &stage = *pass.stage;
      for (uint32_t k = 0; k < stage.input_count + stage.output_count; ++k) {
        int64_t slot = stage.slots[k];
        pass.data[k] = values[slot];
        pass.masks[k] = -1;
        if (shape.kindOf(slot) != ASTRA_SLOT_ARG)
          continue;
        Place place = {
            {int(k), slot}, shape.base[slot], 0, shape.widths[slot], -1};
        if (shape.repeated[slot])
          repeat(shape.base[slot], shape.widths[slot], values[slot]);
        else if (k < stage.input_count)
          pass.uniform[pass.uniforms++] = place;
        else
          pass.place[pass.moving++] = place;
      }
    }

    /// The operands that are one value for the whole row.
    void prepareRow(const Pass &pass, int64_t r) {
      for (int i = 0; i < pass.uniforms; ++i) {
        const Place &from = pass.uniform[i];
        repeat(from.find(r, 0, offsets[r]), from.element, lanes[from.operand]);
      }
    }

    /// One chunk of row r; what is folded fills lanes number `to`.
    ASTRA_INLINE void runChunk(Pass &pass, int64_t r, int64_t chunk,
                               int64_t to) {
      const astra_stage_desc_t &stage = *pass.stage;
      int inputs = int(stage.input_count),
          operands = inputs + int(stage.output_count);
      int64_t at = chunk * foldChunkSize, rest = shape.length - at;
      int64_t n = rest < foldChunkSize ? rest : foldChunkSize;
      int64_t whole = wholeBlocks(n);
      for (int i = 0; i < pass.moving; ++i)
        pass.data[pass.place[i].operand] =
            pass.place[i].find(r, at, offsets[r]);
      for (int fold = 0; fold < pass.folds; ++fold) {
        folded[fold][to] = pass.empty[fold];
        pass.data[pass.folded[fold].operand] = &folded[fold][to];
      }
      if (pass.anyBuffered)
        moveBuffers(pass, 0, inputs, r, at, n);
      if (whole)
        stage.code[blockLevel](pass.data, pass.masks, whole);
      if (whole < n)
        runRest(pass, whole, n - whole, to);
      if (pass.anyBuffered)
        moveBuffers(pass, inputs, operands, r, at, n);
    }

    /// Elements [at, at + n) of the operands [begin, end) that have buffers:
    /// inputs are read, outputs written.
    void moveBuffers(const Pass &pass, int begin, int end, int64_t r,
                     int64_t at, int64_t n) {
      for (int k = begin; k < end; ++k)
        if (pass.buffered[k])
          moveRow(pass.stage->slots[k], r, at, n,
                  static_cast<char *>(pass.data[k]),
                  /*out=*/k >= int(pass.stage->input_count));
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
    void runRest(Pass &pass, int64_t done, int64_t n, int64_t to) {
      const astra_stage_desc_t &stage = *pass.stage;
      int inputs = int(stage.input_count),
          operands = inputs + int(stage.output_count);
      void *rest[mostFusedArgs];
      for (int k = 0, fold = 0; k < operands; ++k) {
        int64_t slot = stage.slots[k], width = shape.widths[slot];
        if (isFolded(pass, k)) {
          restFolded[fold] = pass.empty[fold];
          rest[k] = &restFolded[fold++];
          continue;
        }
        rest[k] = pass.masks[k]
                      ? static_cast<char *>(pass.data[k]) + done * width
                      : pass.data[k];
        if (!isInPlace(pass, slot, k))
          continue;
        if (k < inputs)
          loadPart(static_cast<char *>(rest[k]), n * width, lanes[k]);
        rest[k] = lanes[k];
      }
      stage.code[blockLevel](rest, pass.masks, blockLanes);
      for (int k = inputs, fold = 0; k < operands; ++k) {
        int64_t slot = stage.slots[k], width = shape.widths[slot];
        if (isFolded(pass, k)) {
          folded[fold][to].join<blockLanes>(
              shape.plan.slots[slot], restFolded[fold], done & blockLanes, n);
          ++fold;
        } else if (isInPlace(pass, slot, k)) {
          storePart(lanes[k], n * width,
                    static_cast<char *>(pass.data[k]) + done * width);
        }
      }
    }

    bool isFolded(const Pass &pass, int k) const {
      return pass.masks[k] == blockLanes;
    }
    bool isInPlace(const Pass &pass, int64_t slot, int k) const {
      return shape.kindOf(slot) == ASTRA_SLOT_ARG && pass.masks[k] &&
             !pass.buffered[k];
    }

    static constexpr int64_t laneBytes = blockLanes * 8;

    const FusedAlong &of;
    const FusedShape &shape;
    char *memory; // of rows that are kept
    Pass *passes; // of all stages
    char *chunks; // of operands that are not used in place
    FusedOffsets offsets[blockLanes];
    alignas(64) FoldLanes folded[FusedShape::mostFolds][blockLanes];
    alignas(64) FoldLanes restFolded[FusedShape::mostFolds];
    alignas(64) char values[mostFusedArgs][laneBytes];
    alignas(64) char lanes[mostFusedArgs][laneBytes];
  };

  int64_t batch, roomBytes = 0;

private:
  static constexpr int64_t chunkBytes = foldChunkSize * 8;

  bool isSoftmax() const {
    bool is = false;
    for (uint64_t s = 0; s < shape.plan.slot_count; ++s)
      is = is || shape.plan.slots[s].kind == ASTRA_SLOT_TOP;
    return is;
  }
  int64_t chunkCount() const {
    return (shape.length + foldChunkSize - 1) / foldChunkSize;
  }

  const FusedShape &shape;
  int64_t padded, passRoom, chunkRoom;
  int64_t room[mostFusedArgs];
};

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_FUSEDALONG_H
