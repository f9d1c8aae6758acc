// The loops of a fused kernel without rows: every element by itself. The block
// of generated code gets consecutive elements, whole vectors only; what is not
// consecutive, and the rest of a run, goes through buffers in cache. Rows
// behind one another are one run also where an input is the same in all of
// them, if their length is a power of two: then the block's masks repeat it.
#ifndef ASTRA_KERNELS_FUSEDMAP_H
#define ASTRA_KERNELS_FUSEDMAP_H

#include "kernels/Call.h"
#include "kernels/FusedNest.h"

ASTRA_KERNELS_BEGIN

/// The blocks that this set of kernels calls.
#if defined(__aarch64__)
constexpr int blockLevel = ASTRA_BLOCK_NEON;
#elif defined(__AVX512F__)
constexpr int blockLevel = ASTRA_BLOCK_X86_64_V4;
#else
constexpr int blockLevel = ASTRA_BLOCK_X86_64_V3;
#endif
constexpr int64_t blockLanes = ASTRA_BLOCK_LANES;
constexpr int64_t blockTile = 256;
/// Elements of fused work that are worth a thread.
constexpr int64_t fusedGrain = 16384;

inline int64_t widthOf(uint32_t dtype) {
  return int64_t(dtype >> 8 & 0xffff) / 8;
}
inline int64_t wholeBlocks(int64_t n) { return n & -blockLanes; }
inline int64_t roundToBlocks(int64_t n) {
  return wholeBlocks(n + blockLanes - 1);
}

template <class T> inline void repeatAs(const char *from, char *to) {
  T one, all[blockLanes];
  std::memcpy(&one, from, sizeof(T));
  for (T &lane : all)
    lane = one;
  std::memcpy(to, all, sizeof(all));
}

/// One element in all lanes.
inline void repeat(const char *from, int64_t width, char *to) {
  if (width == 4)
    repeatAs<uint32_t>(from, to);
  else if (width == 8)
    repeatAs<uint64_t>(from, to);
  else if (width == 2)
    repeatAs<uint16_t>(from, to);
  else
    repeatAs<uint8_t>(from, to);
}

class FusedMap {
public:
  FusedMap(const astra_fused_desc_t &plan, const astra_arg_t *args,
           const int64_t *widths)
      : stage(plan.stages[0]), count(int(plan.arg_count)),
        inputs(int(stage.input_count)), widths(widths),
        nest(args, widths, count, 0, args[0].rank, FusedNest::Any) {
    for (int i = 0; i < count; ++i)
      base[i] = static_cast<char *>(args[i].data);
    repeatedRow = findRepeatedRow();
  }

  astra_outcome_t run(const astra_call_t *call) const {
    int64_t worth = worthAThread(), grain = worth / 8;
    parallelFor(call, nest.size(), worth,
                grain > repeatedRow ? grain : repeatedRow,
                [&](int64_t b, int64_t e) { runPart(b, e); });
    return ASTRA_OK;
  }

  /// All of it on this thread.
  void runHere() const { runPart(0, nest.size()); }

private:
  void runPart(int64_t begin, int64_t end) const {
    Worker worker(*this);
    if (repeatedRow)
      worker.runRows(begin, end);
    else if (nest.innerExtent() >= 4 * blockLanes)
      worker.runLong(begin, end);
    else
      worker.runShort(begin, end);
  }

  /// Kernels with many results compute much for each element.
  int64_t worthAThread() const {
    return count < 8    ? fusedGrain
           : count < 12 ? fusedGrain / 4
                        : fusedGrain / 8;
  }

  /// Is a view the same in all rows of a plane?
  bool isRepeated(int i) const {
    return i < inputs && nest.outerStride(i) == 0;
  }

  /// The length of rows that are one run, or 0. Pieces are whole rows.
  int64_t findRepeatedRow() const {
    int64_t row = nest.innerExtent();
    if (!nest.isPlane() || row < blockLanes || row > fusedGrain ||
        (row & (row - 1)) != 0)
      return 0;
    for (int i = 0; i < count; ++i) {
      int64_t step = nest.innerStride(i);
      bool goesOn = step == widths[i] && nest.outerStride(i) == row * step;
      if (!goesOn && !(isRepeated(i) && (step == widths[i] || step == 0)))
        return 0;
    }
    return row;
  }

  /// What one thread works with.
  class Worker {
  public:
    explicit Worker(const FusedMap &map) : map(map) {
      for (int i = 0; i < map.count; ++i) {
        int64_t stride = map.nest.innerStride(i);
        uniform[i] = stride == 0 && i < map.inputs;
        buffered[i] = !uniform[i] && stride != map.widths[i];
        masks[i] = uniform[i] ? 0 : -1;
        anyBuffered = anyBuffered || buffered[i];
        all[i] = -1;
        // Lanes beyond the last element are computed too.
        std::memset(buffers[i], 0, size_t(blockLanes * map.widths[i]));
      }
    }

    /// Whole rows in one run.
    void runRows(int64_t begin, int64_t end) {
      for (int i = 0; i < map.count; ++i) {
        int64_t row = begin / map.repeatedRow;
        data[i] = map.base[i] + row * map.nest.outerStride(i);
        if (uniform[i]) {
          repeat(map.base[i], map.widths[i], buffers[i]);
          data[i] = buffers[i];
        } else if (map.isRepeated(i)) {
          masks[i] = map.repeatedRow - 1;
        }
      }
      map.stage.code[blockLevel](data, masks, end - begin);
    }

    /// Runs along the innermost axis.
    void runLong(int64_t begin, int64_t end) {
      bool fetches = map.nest.isPlane() && map.nest.innerExtent() <= 512;
      map.nest.walk(begin, end, [&](const FusedOffsets &offset, int64_t n) {
        for (int i = 0; i < map.inputs; ++i)
          if (uniform[i])
            repeat(map.base[i] + offset[i], map.widths[i], buffers[i]);
          else if (fetches)
            fetch(map.base[i] + offset[i] + rowsAhead * map.nest.outerStride(i),
                  n * map.nest.innerStride(i));
        int64_t whole = wholeBlocks(n), step = anyBuffered ? blockTile : whole;
        for (int64_t at = 0; at < whole; at += step)
          runTile(offset, at, whole - at < step ? whole - at : step);
        if (whole < n)
          runRest(offset, whole, n - whole);
      });
    }

    /// Short runs are collected until a tile is full.
    void runShort(int64_t begin, int64_t end) {
      for (int i = 0; i < map.count; ++i)
        data[i] = buffers[i];
      for (int64_t at = begin; at < end; at += blockTile) {
        int64_t n = end - at < blockTile ? end - at : blockTile, filled = 0;
        map.nest.walk(at, at + n, [&](const FusedOffsets &offset, int64_t run) {
          for (int i = 0; i < map.inputs; ++i)
            gather(map.base[i] + offset[i], map.nest.innerStride(i), run,
                   map.widths[i], buffers[i] + filled * map.widths[i]);
          filled += run;
        });
        clearPadding(n);
        map.stage.code[blockLevel](data, all, roundToBlocks(n));
        filled = 0;
        map.nest.walk(at, at + n, [&](const FusedOffsets &offset, int64_t run) {
          for (int i = map.inputs; i < map.count; ++i)
            scatter(buffers[i] + filled * map.widths[i], run, map.widths[i],
                    map.base[i] + offset[i], map.nest.innerStride(i));
          filled += run;
        });
      }
    }

  private:
    /// Short runs end before the processor sees where they go on.
    static constexpr int64_t rowsAhead = 4;

    static void fetch(const char *from, int64_t bytes) {
      for (int64_t at = 0; at < bytes; at += 64)
        __builtin_prefetch(from + at);
    }

    void clearPadding(int64_t n) {
      for (int i = 0; i < map.inputs; ++i)
        std::memset(buffers[i] + n * map.widths[i], 0,
                    size_t((roundToBlocks(n) - n) * map.widths[i]));
    }

    char *place(const FusedOffsets &offset, int i, int64_t at) const {
      return map.base[i] + offset[i] + at * map.nest.innerStride(i);
    }

    void runTile(const FusedOffsets &offset, int64_t at, int64_t n) {
      for (int i = 0; i < map.count; ++i) {
        bool inPlace = !uniform[i] && !buffered[i];
        data[i] = inPlace ? place(offset, i, at) : buffers[i];
        if (buffered[i] && i < map.inputs)
          gather(place(offset, i, at), map.nest.innerStride(i), n,
                 map.widths[i], buffers[i]);
      }
      map.stage.code[blockLevel](data, masks, n);
      for (int i = map.inputs; i < map.count; ++i)
        if (buffered[i])
          scatter(buffers[i], n, map.widths[i], place(offset, i, at),
                  map.nest.innerStride(i));
    }

    /// Fewer elements than a vector has.
    void runRest(const FusedOffsets &offset, int64_t at, int64_t n) {
      for (int i = 0; i < map.count; ++i) {
        data[i] = buffers[i];
        if (!uniform[i] && i < map.inputs)
          gather(place(offset, i, at), map.nest.innerStride(i), n,
                 map.widths[i], buffers[i]);
      }
      map.stage.code[blockLevel](data, masks, blockLanes);
      for (int i = map.inputs; i < map.count; ++i)
        scatter(buffers[i], n, map.widths[i], place(offset, i, at),
                map.nest.innerStride(i));
    }

    const FusedMap &map;
    bool uniform[mostFusedArgs], buffered[mostFusedArgs], anyBuffered = false;
    int64_t masks[mostFusedArgs], all[mostFusedArgs];
    void *data[mostFusedArgs];
    alignas(64) char buffers[mostFusedArgs][blockTile * 8];
  };

  const astra_stage_desc_t &stage;
  int count, inputs;
  const int64_t *widths;
  FusedNest nest;
  int64_t repeatedRow; // length of rows that are one run, or 0
  char *base[mostFusedArgs];
};

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_FUSEDMAP_H
