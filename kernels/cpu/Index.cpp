// Gather and scatter in runs: whole rows where they are consecutive, and along
// the index arrays where a tuple addresses single elements. scatter_add of
// floats is in ScatterAdd.cpp.
#include "kernels/Ops.h"
#include "kernels/cpu/CopyAll.h"
#include "kernels/cpu/Places.h"
#include "kernels/cpu/Tiles.h"

using namespace astra;

namespace {

template <class T>
ASTRA_INLINE inline void copyRun(const T *from, int64_t si, T *to, int64_t so,
                                 int64_t n) {
  if (si == 1 && so == 1) {
    __builtin_memcpy(to, from, size_t(n) * sizeof(T));
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    to[i * so] = from[i * si];
}

/// One run of each place of a block: to[taken] = from[offset].
template <class T>
void gatherBlock(const T *from, T *to, const Places &places, const Runs &runs,
                 int64_t first, int64_t n, const int64_t *offsets) {
  if (runs.length == 1) {
    for (int64_t i = 0; i < n; ++i)
      to[places.takenOffset(first + i)] = from[offsets[i]];
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    copyRun(from + offsets[i], runs.stride, to + places.takenOffset(first + i),
            runs.takenStride, runs.length);
}

/// A work item is a run of a block of places.
template <class T>
astra_outcome_t gather(const astra_call_t *call, const astra_arg_t *args,
                       const int64_t *params) {
  const astra_arg_t &x = args[0], &out = args[1 + params[0]];
  Places places(x, out, args + 1, params);
  Runs runs(x, out, args[1].rank, params);
  if (runs.size() == 0)
    return places.allInRange() ? ASTRA_OK : places.fail(call);
  constexpr int64_t block = Places::block;
  int64_t blocks = (places.size() + block - 1) / block;
  bool failed = false;
  auto run = [&](int64_t begin, int64_t end) {
    int64_t offsets[block], current = -1, n = 0;
    for (int64_t item = begin; item < end; ++item) {
      int64_t wanted = item / runs.count, start[2];
      if (wanted != current) {
        current = wanted;
        n = Places::smaller(places.size() - current * block);
        // No thread takes back what another has found.
        if (!places.offsets(current * block, n, offsets))
          return __atomic_store_n(&failed, true, __ATOMIC_RELAXED);
      }
      runs.startOf(item % runs.count, start);
      gatherBlock(static_cast<const T *>(x.data) + start[0],
                  static_cast<T *>(out.data) + start[1], places, runs,
                  current * block, n, offsets);
    }
  };
  parallelFor(call, blocks * runs.count,
              elementGrain / (block * (runs.length + 4)) + 1, run);
  return failed ? places.fail(call) : ASTRA_OK;
}

/// For every run the places in their order, so that the last of one destination
/// stays; put(to, from, runs) does a run.
template <class T, class Put>
astra_outcome_t scatter(const astra_call_t *call, const astra_arg_t *args,
                        const int64_t *params, Put put) {
  const astra_arg_t &value = args[1], &out = args[2 + params[0]];
  if (astra_outcome_t outcome = copyAll<T>(call, args[0], out))
    return outcome;
  Places places(out, value, args + 2, params);
  Runs runs(out, value, args[2].rank, params);
  if (!places.allInRange())
    return places.fail(call);
  auto run = [&](int64_t begin, int64_t end) {
    int64_t offsets[Places::block], start[2];
    for (int64_t r = begin; r < end; ++r) {
      runs.startOf(r, start);
      T *to = static_cast<T *>(out.data) + start[0];
      const T *from = static_cast<const T *>(value.data) + start[1];
      for (int64_t first = 0; first < places.size(); first += Places::block) {
        int64_t n = Places::smaller(places.size() - first);
        places.offsets(first, n, offsets);
        if (runs.length == 1)
          for (int64_t i = 0; i < n; ++i)
            put.one(to[offsets[i]], from[places.takenOffset(first + i)]);
        else
          for (int64_t i = 0; i < n; ++i)
            put(to + offsets[i], from + places.takenOffset(first + i), runs);
      }
    }
  };
  parallelFor(call, runs.count,
              elementGrain / ((places.size() + 1) * (runs.length + 4)) + 1,
              run);
  return ASTRA_OK;
}

struct Replace {
  template <class T> static void one(T &to, T from) { to = from; }
  template <class T>
  void operator()(T *to, const T *from, const Runs &runs) const {
    copyRun(from, runs.takenStride, to, runs.stride, runs.length);
  }
};

/// Integers wrap: any order gives the same bits.
struct Add {
  template <class T> static void one(T &to, T from) {
    to = Op_add::apply(to, from);
  }
  template <class T>
  void operator()(T *to, const T *from, const Runs &runs) const {
    for (int64_t i = 0; i < runs.length; ++i)
      one(to[i * runs.stride], from[i * runs.takenStride]);
  }
};

} // namespace

#define GATHER(op, width, version, doc)                                        \
  ASTRA_DEFINE_VARIANT(op, width, runs, gather<T_##width>(call, args, params))
#define SCATTER_SET(op, width, version, doc)                                   \
  ASTRA_DEFINE_VARIANT(op, width, runs,                                        \
                       scatter<T_##width>(call, args, params, Replace()))
#include "kernels/kernels.def"

#define FOR_INT(dtype)                                                         \
  ASTRA_DEFINE_VARIANT(                                                        \
      scatter_add, dtype, runs,                                                \
      scatter<Signless<T_##dtype>>(call, args, params, Add()))
#include "kernels/cpu/ForNumbers.h"
