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
    int64_t grain = fusedGrain / (length + 16) + 1;
    grain = (grain + batch - 1) / batch * batch;
    bool enough = true;
    parallelFor(call, rows.size(), grain, [&](int64_t begin, int64_t end) {
      Scratch<char> memory(call, roomBytes);
      if (!memory) {
        __atomic_store_n(&enough, false, __ATOMIC_RELAXED);
        return;
      }
      Worker worker(*this, memory.get());
      for (int64_t at = begin; at < end; at += batch)
        worker.runBatch(at, end - at < batch ? end - at : batch);
    });
    return enough ? ASTRA_OK : ASTRA_ERROR_OUT_OF_MEMORY;
  }

private:
  static constexpr int64_t chunkBytes = foldChunkSize * 8;

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
    Worker(const FusedRows &of, char *memory) : of(of), memory(memory) {
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
        else
          for (int64_t r = 0; r < count; ++r)
            runRow(stage, r);
      }
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
      int inputs = int(stage.input_count),
          operands = inputs + int(stage.output_count);
      FoldState folds[mostFolds];
      for (int k = 0; k < operands; ++k)
        prepare(stage.slots[k], k, k < inputs, r);
      for (int64_t at = 0; at < of.length; at += foldChunkSize) {
        int64_t n = of.length - at;
        n = n < foldChunkSize ? n : foldChunkSize;
        runChunk(stage, r, at, n);
        int fold = 0;
        for (int k = inputs; k < operands; ++k)
          if (isFold(kindOf(stage.slots[k])))
            folds[fold++].add(of.plan.slots[stage.slots[k]], data[k], n);
      }
      int fold = 0;
      for (int k = inputs; k < operands; ++k)
        if (int64_t slot = stage.slots[k]; isFold(kindOf(slot)))
          folds[fold++].finish(of.plan.slots[slot],
                               values[slot] + r * of.widths[slot]);
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

    void runChunk(const astra_stage_desc_t &stage, int64_t r, int64_t at,
                  int64_t n) {
      int inputs = int(stage.input_count),
          operands = inputs + int(stage.output_count), nextBuffer = 0;
      int64_t whole = wholeBlocks(n);
      for (int k = 0; k < operands; ++k)
        data[k] = locate(stage.slots[k], k, k < inputs, r, at, n, nextBuffer);
      if (whole)
        stage.code[blockLevel](data, masks, whole);
      if (whole < n)
        runRest(stage, whole, n - whole);
      for (int k = inputs; k < operands; ++k)
        if (buffered[k])
          moveRow(stage.slots[k], r, at, n, static_cast<char *>(data[k]),
                  /*out=*/true);
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
      char *buffer = memory + of.chunkRoom + chunkBytes * nextBuffer++;
      if (buffered[k] && isInput)
        moveRow(slot, r, at, n, buffer, /*out=*/false);
      return buffer;
    }

    /// Copies elements of a row of an argument to or from a buffer.
    void moveRow(int64_t slot, int64_t r, int64_t at, int64_t n, char *buffer,
                 bool out) {
      int64_t width = of.widths[slot], stride = of.row.innerStride(int(slot));
      char *start = of.base[slot] + offsets[r][slot];
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

    static constexpr int mostFolds = 8;
    static constexpr int64_t laneBytes = blockLanes * 8;

    const FusedRows &of;
    char *memory;
    FusedOffsets offsets[blockLanes];
    bool buffered[mostFusedArgs];
    int64_t masks[mostFusedArgs];
    void *data[mostFusedArgs];
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
