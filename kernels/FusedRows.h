// The loops of a fused kernel that works row by row: passes over a row that
// stays in cache, with folds (canonical sums, extremes) between them, and work
// on one value a row. Rows are taken in small batches, so that what is done
// once a row is done for a whole vector of them.
#ifndef ASTRA_KERNELS_FUSEDROWS_H
#define ASTRA_KERNELS_FUSEDROWS_H

#include "kernels/FusedFold.h"
#include "kernels/FusedMap.h"

ASTRA_KERNELS_BEGIN

class FusedRows {
public:
  FusedRows(const astra_fused_desc_t &plan, const astra_arg_t *args,
            const int64_t *widths)
      : plan(plan), widths(widths), rows(args, widths, int(plan.arg_count), 0,
                                         args[0].rank - plan.row_axes),
        row(args, widths, int(plan.arg_count), args[0].rank - plan.row_axes,
            args[0].rank),
        length(row.size()), padded(roundToBlocks(length)) {
    for (uint32_t i = 0; i < plan.arg_count; ++i)
      base[i] = static_cast<char *>(args[i].data);
    // Rows that fit in the first cache together, as far as a vector goes.
    batch = length > 0 ? 4096 / length : blockLanes;
    batch = batch < 1 ? 1 : batch > blockLanes ? blockLanes : batch;
    for (uint64_t s = 0; s < plan.slot_count; ++s)
      if (plan.slots[s].kind == ASTRA_SLOT_ROW) {
        room[s] = roomBytes;
        roomBytes += (batch * padded * widths[s] + 63) & -64;
      }
    // Behind them the chunks that are not used in place.
    uint32_t operands = 0;
    for (uint64_t s = 0; s < plan.stage_count; ++s) {
      const astra_stage_desc_t &stage = plan.stages[s];
      uint32_t count = stage.input_count + stage.output_count;
      operands = count > operands ? count : operands;
    }
    chunkRoom = roomBytes;
    roomBytes += operands * chunkBytes;
  }

  astra_outcome_t run(const astra_call_t *call) const {
    if (rows.size() == 0)
      return ASTRA_OK;
    if (const char *name = length == 0 ? findExtreme() : nullptr)
      return call->api->fail(call, ASTRA_ERROR_INVALID_ARGUMENT,
                             Sentence()
                                 .text(name)
                                 .text(" over nothing: a reduced extent is 0")
                                 .get());
    if (rows.size() < 8 && length >= 8 * fusedGrain)
      return runWide(call);
    int64_t grain = fusedGrain / (length + 16) + 1;
    grain = (grain + batch - 1) / batch * batch;
    bool enough = true;
    parallelFor(call, rows.size(), grain, [&](int64_t begin, int64_t end) {
      Scratch<char> memory(call, roomBytes);
      if (!memory) {
        __atomic_store_n(&enough, false, __ATOMIC_RELAXED);
        return;
      }
      Worker worker(*this, memory.get(), memory.get() + chunkRoom);
      for (int64_t at = begin; at < end; at += batch)
        worker.runBatch(at, end - at < batch ? end - at : batch);
    });
    return enough ? ASTRA_OK : ASTRA_ERROR_OUT_OF_MEMORY;
  }

private:
  static constexpr int64_t chunkBytes = foldChunkSize * 8;
  static constexpr int mostFolds = 8;
  /// Rows below it are packed: a batch of them is one chunk.
  static constexpr int64_t shortLength = foldChunkSize / blockLanes;

  int64_t chunkCount() const {
    return (length + foldChunkSize - 1) / foldChunkSize;
  }

  /// Few long rows: one after the other, the chunks of a row on all threads.
  astra_outcome_t runWide(const astra_call_t *call) const {
    Scratch<char> memory(call, roomBytes);
    Scratch<Accumulated> values(call, chunkCount() * mostFolds);
    if (!memory || !values)
      return ASTRA_ERROR_OUT_OF_MEMORY;
    Worker worker(*this, memory.get(), memory.get() + chunkRoom);
    for (int64_t r = 0; r < rows.size(); ++r)
      if (!worker.runWideRow(call, r, values.get()))
        return ASTRA_ERROR_OUT_OF_MEMORY;
    return ASTRA_OK;
  }

  /// The first extreme that is folded: of nothing there is none.
  const char *findExtreme() const {
    for (uint64_t s = 0; s < plan.slot_count; ++s) {
      if (plan.slots[s].kind == ASTRA_SLOT_MAX)
        return "max";
      if (plan.slots[s].kind == ASTRA_SLOT_MIN)
        return "min";
    }
    return nullptr;
  }

  /// What one thread works with.
  class Worker {
  public:
    Worker(const FusedRows &of, char *memory, char *chunks)
        : of(of), memory(memory), chunks(chunks) {
      std::memset(lanes, 0, sizeof(lanes));
      std::memset(values, 0, sizeof(values));
    }

    void runBatch(int64_t first, int64_t count) {
      for (int64_t r = 0; r < count; ++r)
        of.rows.offsetsAt(first + r, offsets[r]);
      for (uint64_t s = 0; s < of.plan.stage_count; ++s) {
        const astra_stage_desc_t &stage = of.plan.stages[s];
        if (stage.per_row)
          runValues(stage, count);
        else if (of.length < shortLength)
          runShortRows(stage, count);
        else
          for (int64_t r = 0; r < count; ++r)
            runRow(stage, r);
      }
    }

    /// One long row; `sums` has room for mostFolds values a chunk.
    bool runWideRow(const astra_call_t *call, int64_t row, Accumulated *sums) {
      of.rows.offsetsAt(row, offsets[0]);
      for (uint64_t s = 0; s < of.plan.stage_count; ++s) {
        const astra_stage_desc_t &stage = of.plan.stages[s];
        if (stage.per_row)
          runValues(stage, 1);
        else if (!runWidePass(call, stage, sums))
          return false;
      }
      return true;
    }

  private:
    uint32_t kindOf(int64_t slot) const { return of.plan.slots[slot].kind; }
    static bool isFold(uint32_t kind) { return kind >= ASTRA_SLOT_SUM; }

    /// One value a row: the lanes are the rows.
    void runValues(const astra_stage_desc_t &stage, int64_t count) {
      int operands = int(stage.input_count + stage.output_count);
      for (int k = 0; k < operands; ++k) {
        int64_t slot = stage.slots[k];
        masks[k] = -1;
        data[k] = values[slot];
        if (kindOf(slot) == ASTRA_SLOT_ARG && k < int(stage.input_count))
          for (int64_t r = 0; r < count; ++r)
            std::memcpy(values[slot] + r * of.widths[slot],
                        of.base[slot] + offsets[r][slot],
                        size_t(of.widths[slot]));
      }
      stage.code[blockLevel](data, masks, blockLanes);
      for (int k = int(stage.input_count); k < operands; ++k) {
        int64_t slot = stage.slots[k];
        if (kindOf(slot) == ASTRA_SLOT_ARG)
          for (int64_t r = 0; r < count; ++r)
            std::memcpy(of.base[slot] + offsets[r][slot],
                        values[slot] + r * of.widths[slot],
                        size_t(of.widths[slot]));
      }
    }

    /// A pass over row r of the batch, chunk by chunk.
    void runRow(const astra_stage_desc_t &stage, int64_t r) {
      FoldState folds[mostFolds];
      prepareAll(stage, r);
      for (int64_t chunk = 0; chunk < of.chunkCount(); ++chunk)
        runChunk(stage, r, chunk, [&](int fold, int64_t slot, int64_t n) {
          const astra_slot_desc_t &desc = of.plan.slots[slot];
          folds[fold].add(desc, FoldState::foldChunk(desc, folded[fold], n));
        });
      finishFolds(stage, r, folds);
    }

    /// Short rows of a batch, one behind the other, in one go.
    void runShortRows(const astra_stage_desc_t &stage, int64_t count) {
      int inputs = int(stage.input_count),
          operands = inputs + int(stage.output_count);
      for (int k = 0; k < operands; ++k) {
        int64_t slot = stage.slots[k];
        masks[k] = -1;
        data[k] = kindOf(slot) == ASTRA_SLOT_ROW ? memory + of.room[slot]
                                                 : chunks + chunkBytes * k;
        if (k < inputs && kindOf(slot) != ASTRA_SLOT_ROW)
          pack(slot, count, static_cast<char *>(data[k]));
      }
      stage.code[blockLevel](data, masks, roundToBlocks(count * of.length));
      for (int k = inputs; k < operands; ++k)
        if (kindOf(stage.slots[k]) == ASTRA_SLOT_ARG)
          for (int64_t r = 0; r < count; ++r)
            moveRow(stage.slots[k], r, 0, of.length, packed(stage, k, r),
                    /*out=*/true);
      for (int k = inputs; k < operands; ++k)
        if (isFold(kindOf(stage.slots[k])))
          foldShortRows(stage, k, count);
    }

    /// The elements of row r of an operand that is packed.
    char *packed(const astra_stage_desc_t &stage, int k, int64_t r) const {
      return static_cast<char *>(data[k]) +
             r * of.length * of.widths[stage.slots[k]];
    }

    /// Values and elements of an input, row by row; zeros up to a whole vector.
    void pack(int64_t slot, int64_t count, char *to) {
      int64_t width = of.widths[slot], bytes = of.length * width;
      for (int64_t r = 0; r < count; ++r)
        if (kindOf(slot) == ASTRA_SLOT_ARG)
          moveRow(slot, r, 0, of.length, to + r * bytes, /*out=*/false);
        else
          gather(values[slot] + r * width, 0, of.length, width, to + r * bytes);
      int64_t used = count * of.length;
      std::memset(to + used * width, 0,
                  size_t((roundToBlocks(used) - used) * width));
    }

    void foldShortRows(const astra_stage_desc_t &stage, int k, int64_t count) {
      int64_t slot = stage.slots[k];
      const astra_slot_desc_t &desc = of.plan.slots[slot];
      for (int64_t r = 0; r < count; ++r) {
        FoldState fold;
        if (of.length)
          fold.add(desc,
                   FoldState::foldChunk(desc, packed(stage, k, r), of.length));
        fold.finish(desc, values[slot] + r * of.widths[slot]);
      }
    }

    /// The same on all threads; false if there is no memory.
    bool runWidePass(const astra_call_t *call, const astra_stage_desc_t &stage,
                     Accumulated *sums) {
      bool enough = true;
      parallelFor(call, of.chunkCount(), 32, [&](int64_t begin, int64_t end) {
        Scratch<char> memoryOfPiece(call, of.roomBytes - of.chunkRoom);
        if (!memoryOfPiece) {
          __atomic_store_n(&enough, false, __ATOMIC_RELAXED);
          return;
        }
        Worker piece(*this);
        piece.chunks = memoryOfPiece.get();
        piece.prepareAll(stage, 0);
        for (int64_t chunk = begin; chunk < end; ++chunk)
          piece.runChunk(
              stage, 0, chunk, [&](int fold, int64_t slot, int64_t n) {
                sums[chunk * mostFolds + fold] = FoldState::foldChunk(
                    of.plan.slots[slot], piece.folded[fold], n);
              });
      });
      FoldState folds[mostFolds];
      for (int64_t chunk = 0; chunk < of.chunkCount(); ++chunk)
        forEachFold(stage, [&](int fold, int64_t slot) {
          folds[fold].add(of.plan.slots[slot], sums[chunk * mostFolds + fold]);
        });
      finishFolds(stage, 0, folds);
      return enough;
    }

    /// Calls body(number, slot) for the outputs of a stage that are folded.
    template <class Body>
    void forEachFold(const astra_stage_desc_t &stage, Body &&body) const {
      int fold = 0;
      for (uint32_t k = 0; k < stage.output_count; ++k)
        if (int64_t slot = stage.slots[stage.input_count + k];
            isFold(kindOf(slot)))
          body(fold++, slot);
    }

    void finishFolds(const astra_stage_desc_t &stage, int64_t r,
                     FoldState *folds) {
      forEachFold(stage, [&](int fold, int64_t slot) {
        folds[fold].finish(of.plan.slots[slot],
                           values[slot] + r * of.widths[slot]);
      });
    }

    void prepareAll(const astra_stage_desc_t &stage, int64_t r) {
      int inputs = int(stage.input_count);
      for (int k = 0; k < inputs + int(stage.output_count); ++k)
        prepare(stage.slots[k], k, k < inputs, r);
    }

    /// What an operand is for the whole row: one value, or elements in place
    /// or through a buffer.
    void prepare(int64_t slot, int k, bool isInput, int64_t r) {
      uint32_t kind = kindOf(slot);
      int64_t width = of.widths[slot];
      bool uniform = kind == ASTRA_SLOT_SCALAR || (isFold(kind) && isInput);
      const char *value = values[slot] + r * width;
      buffered[k] = false;
      if (kind == ASTRA_SLOT_ARG) {
        int64_t stride = of.row.innerStride(int(slot));
        uniform = isInput && of.row.isOneRun() && stride == 0;
        value = of.base[slot] + offsets[r][slot];
        buffered[k] = !uniform && !(of.row.isOneRun() && stride == width);
      }
      masks[k] = uniform ? 0 : -1;
      if (uniform)
        gather(value, 0, blockLanes, width, lanes[k]);
    }

    /// One chunk of a row; folds(number, slot, n) for what is to be folded.
    template <class Folds>
    void runChunk(const astra_stage_desc_t &stage, int64_t r, int64_t chunk,
                  Folds &&folds) {
      int inputs = int(stage.input_count),
          operands = inputs + int(stage.output_count), nextBuffer = 0;
      int64_t at = chunk * foldChunkSize, rest = of.length - at;
      int64_t n = rest < foldChunkSize ? rest : foldChunkSize;
      int64_t whole = wholeBlocks(n);
      for (int k = 0; k < operands; ++k)
        data[k] = locate(stage.slots[k], k, k < inputs, r, at, n, nextBuffer);
      if (whole)
        stage.code[blockLevel](data, masks, whole);
      if (whole < n)
        runRest(stage, whole, n - whole);
      int fold = 0;
      for (int k = inputs; k < operands; ++k)
        if (buffered[k])
          moveRow(stage.slots[k], r, at, n, static_cast<char *>(data[k]),
                  /*out=*/true);
        else if (isFold(kindOf(stage.slots[k])))
          folded[fold++] = data[k];
      forEachFold(stage,
                  [&](int number, int64_t slot) { folds(number, slot, n); });
    }

    /// Where the elements [at, at + n) of an operand are.
    void *locate(int64_t slot, int k, bool isInput, int64_t r, int64_t at,
                 int64_t n, int &nextBuffer) {
      uint32_t kind = kindOf(slot);
      int64_t width = of.widths[slot];
      if (!masks[k])
        return lanes[k];
      if (kind == ASTRA_SLOT_ROW)
        return memory + of.room[slot] + (r * of.padded + at) * width;
      if (kind == ASTRA_SLOT_ARG && !buffered[k])
        return of.base[slot] + offsets[r][slot] + at * width;
      char *buffer = chunks + chunkBytes * nextBuffer++;
      if (buffered[k] && isInput)
        moveRow(slot, r, at, n, buffer, /*out=*/false);
      return buffer;
    }

    /// Copies elements of a row of an argument to or from a buffer.
    void moveRow(int64_t slot, int64_t r, int64_t at, int64_t n, char *buffer,
                 bool out) {
      int64_t width = of.widths[slot], stride = of.row.innerStride(int(slot));
      char *start = of.base[slot] + offsets[r][slot];
      if (of.row.isOneRun()) {
        start += at * stride;
        return out ? scatter(buffer, n, width, start, stride)
                   : gather(start, stride, n, width, buffer);
      }
      of.row.walk(at, at + n, [&](const FusedOffsets &offset, int64_t run) {
        if (out)
          scatter(buffer, run, width, start + offset[slot], stride);
        else
          gather(start + offset[slot], stride, run, width, buffer);
        buffer += run * width;
      });
    }

    /// Fewer elements than a vector has: arguments in place are copied.
    void runRest(const astra_stage_desc_t &stage, int64_t done, int64_t n) {
      int inputs = int(stage.input_count),
          operands = inputs + int(stage.output_count);
      void *rest[mostFusedArgs];
      for (int k = 0; k < operands; ++k) {
        int64_t width = of.widths[stage.slots[k]];
        rest[k] =
            masks[k] ? static_cast<char *>(data[k]) + done * width : data[k];
        if (!isInPlace(stage.slots[k], k))
          continue;
        if (k < inputs)
          std::memcpy(lanes[k], rest[k], size_t(n * width));
        rest[k] = lanes[k];
      }
      stage.code[blockLevel](rest, masks, blockLanes);
      for (int k = inputs; k < operands; ++k) {
        int64_t width = of.widths[stage.slots[k]];
        if (isInPlace(stage.slots[k], k))
          std::memcpy(static_cast<char *>(data[k]) + done * width, rest[k],
                      size_t(n * width));
      }
    }

    bool isInPlace(int64_t slot, int k) const {
      return kindOf(slot) == ASTRA_SLOT_ARG && masks[k] && !buffered[k];
    }

    static constexpr int64_t laneBytes = blockLanes * 8;

    const FusedRows &of;
    char *memory; // of rows that are kept
    char *chunks; // of operands that are not used in place
    FusedOffsets offsets[blockLanes];
    bool buffered[mostFusedArgs];
    int64_t masks[mostFusedArgs];
    void *data[mostFusedArgs], *folded[mostFolds];
    alignas(64) char values[mostFusedArgs][laneBytes];
    alignas(64) char lanes[mostFusedArgs][laneBytes];
  };

  const astra_fused_desc_t &plan;
  const int64_t *widths;
  FusedNest rows, row;
  int64_t length, padded, batch, roomBytes = 0, chunkRoom;
  int64_t room[mostFusedArgs];
  char *base[mostFusedArgs];
};

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_FUSEDROWS_H
