// Products of floats: which of the ways there are a product is made by, and
// whether operands change places. Where a fused map takes the result
// (FusedProduct.h), it gets it box by box if the product is large.
#include "kernels/cpu/LineProduct.h"
#include "kernels/cpu/PackedProduct.h"
#include "kernels/cpu/WindowProduct.h"

using namespace astra;

namespace {

/// Products over no k are +0.
template <class T> void clearResult(const Contraction &c, T *out) {
  for (int64_t batch = 0; batch < c.batch.size(); ++batch)
    for (int64_t i = 0; i < c.rows.size(); ++i) {
      int64_t base[3], at[2];
      c.batch.offsetsAt(batch, base);
      c.rows.offsetsAt(i, at);
      c.columns.walk(
          0, c.columns.size(), [&](const int64_t (&offset)[2], int64_t run) {
            for (int64_t j = 0; j < run; ++j)
              out[base[2] + at[1] + offset[1] + j * c.columns.innerStride(1)] =
                  narrow<T>(Compute<T>(0));
            return true;
          });
    }
}

/// Are rows and columns to change places? Few columns of many rows are better
/// few rows, and the columns of the result should lie side by side.
template <class T> bool isExchanged(const Contraction &c) {
  int64_t m = c.rows.size(), n = c.columns.size(), k = c.contracted.size();
  if (m > n && n <= narrowRows<Compute<T>>)
    return n == 1 || m * k > 16384;
  return c.columns.innerStride(1) != 1 && c.rows.innerStride(1) == 1 &&
         c.rows.innerExtent() >= Tile<Compute<T>>::lanes && n > 1;
}

/// Strides of a result of which one block is kept.
ASTRA_SHARED void layOutKept(const astra_arg_t &result, FusedBoxes::Axes rows,
                             FusedBoxes::Axes columns, int64_t row,
                             int64_t *strides) {
  for (; rows.end-- > rows.begin; row *= result.shape[rows.end])
    strides[rows.end] = row;
  for (int64_t column = 1; columns.end-- > columns.begin;
       column *= result.shape[columns.end])
    strides[columns.end] = column;
}

template <class T>
astra_outcome_t contract(const astra_call_t *call, const astra_arg_t *args,
                         const int64_t *params);

/// If there is a map, it takes the result of a product of some size, box by box
/// where that is possible; it may have no place else. Not for f16 and bf16.
template <class T>
ASTRA_SHARED astra_outcome_t multiply(const astra_call_t *call,
                                      const astra_arg_t *args,
                                      const int64_t *params, ProductMap *map) {
  if constexpr (isSmallFloat<T>)
    map = nullptr;
  Contraction c(args, params[0], params[1]);
  const T *a = static_cast<const T *>(args[0].data);
  const T *b = static_cast<const T *>(args[1].data);
  T *out = map && !map->hasRoom ? nullptr : static_cast<T *>(args[2].data);
  if constexpr (std::is_same_v<T, float>)
    if (overlaps(args[0]) && sizeOf(args[0]) * sizeOf(args[2]) > 0) {
      if (map)
        return map->runInTurn(call, contract<T>);
      WindowProduct<T> windows(c, a, b, out);
      if (windows.fits())
        return windows.runAll(call) ? ASTRA_OK : ASTRA_ERROR_OUT_OF_MEMORY;
    }
  bool exchanged = isExchanged<T>(c);
  if (exchanged) {
    c = Contraction(args, params[0], params[1], true);
    std::swap(a, b);
  }
  if (c.batch.size() * c.rows.size() * c.columns.size() == 0)
    return ASTRA_OK;
  if (c.contracted.size() == 0) {
    if (map)
      return map->runInTurn(call, contract<T>);
    clearResult(c, out);
    return ASTRA_OK;
  }
  FusedBoxes::Axes batch = {0, uint32_t(params[0])};
  FusedBoxes::Axes rows = {batch.end, args[0].rank - uint32_t(params[1])};
  FusedBoxes::Axes columns = {rows.end, args[2].rank};
  if (exchanged)
    std::swap(rows, columns);
  std::optional<FusedBoxes> made;
  FusedBoxes *boxes = map ? &made.emplace(*map, batch, rows, columns) : nullptr;
  if constexpr (!isSmallFloat<T>) {
    DirectProduct<T> small(c, a, b, out);
    bool fits = small.fits();
    if (fits && map && !small.hasGroups())
      return map->runInTurn(call, contract<T>);
    if (fits)
      return small.run(call, boxes) ? ASTRA_OK : ASTRA_ERROR_OUT_OF_MEMORY;
    LineProduct<T> lines(c, a, b, out);
    if (!map && lines.fits())
      return lines.run(call) ? ASTRA_OK : ASTRA_ERROR_OUT_OF_MEMORY;
  }
  int64_t strides[ASTRA_MAX_RANK] = {};
  astra_arg_t kept[] = {args[0], args[1], args[2]};
  if (Product<T>::takesBoxes && !out) {
    int64_t row = Product<T>::keptRowOf(Cut<Compute<T>>(c));
    layOutKept(args[2], rows, columns, row, strides);
    kept[2].strides = strides;
    args = kept;
    c = Contraction(args, params[0], params[1], exchanged);
  }
  Nest<1> outColumns = resultColumns(args, params[0], params[1], exchanged);
  bool overlap = overlaps(args[exchanged ? 0 : 1]);
  return Product<T>(call, c, outColumns, overlap, a, b, out, boxes).run();
}

template <class T>
astra_outcome_t contract(const astra_call_t *call, const astra_arg_t *args,
                         const int64_t *params) {
  return multiply<T>(call, args, params, nullptr);
}

/// Small results stay in cache by themselves.
template <class T>
astra_outcome_t contractMap(const astra_call_t *call, const astra_arg_t *args,
                            const int64_t *params) {
  ProductMap map(args, params, 2);
  if (isSmallFloat<T> || map.size() < fusedGrain)
    return map.runInTurn(call, contract<T>);
  return multiply<T>(call, map.alone().all, map.own, &map);
}

} // namespace

ASTRA_DEFINE_VARIANT(contract_map, f32, boxes,
                     contractMap<float>(call, args, params))
ASTRA_DEFINE_VARIANT(contract_map, f16, boxes,
                     contractMap<F16>(call, args, params))
ASTRA_DEFINE_VARIANT(contract_map, bf16, boxes,
                     contractMap<BF16>(call, args, params))
ASTRA_DEFINE_VARIANT(contract_map, f64, boxes,
                     contractMap<double>(call, args, params))
#ifdef __AVX512F__
ASTRA_DEFINE_VARIANT(contract, f32, 14x32, contract<float>(call, args, params))
ASTRA_DEFINE_VARIANT(contract, f16, 14x32, contract<F16>(call, args, params))
ASTRA_DEFINE_VARIANT(contract, bf16, 14x32, contract<BF16>(call, args, params))
ASTRA_DEFINE_VARIANT(contract, f64, 14x16, contract<double>(call, args, params))
#else
ASTRA_DEFINE_VARIANT(contract, f32, 6x16, contract<float>(call, args, params))
ASTRA_DEFINE_VARIANT(contract, f16, 6x16, contract<F16>(call, args, params))
ASTRA_DEFINE_VARIANT(contract, bf16, 6x16, contract<BF16>(call, args, params))
ASTRA_DEFINE_VARIANT(contract, f64, 6x8, contract<double>(call, args, params))
#endif
