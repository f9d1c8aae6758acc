// Products of floats: which of the ways there are a product is made by, and
// whether operands change places. Where a fused map takes the result
// (FusedProduct.h), it gets it box by box if the product is large; where one
// makes an operand, it does so box by box if each is packed once.
#include "kernels/cpu/LineProduct.h"
#include "kernels/cpu/PackedProduct.h"
#include "kernels/cpu/WindowProduct.h"
#include <algorithm>

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

/// Strides of a result of which one block is kept, or of an operand of which
/// one box is there. The batch has no place in it.
ASTRA_SHARED void layOutKept(const astra_arg_t &result, FusedBoxes::Axes rows,
                             FusedBoxes::Axes columns, int64_t row,
                             int64_t column, int64_t *strides) {
  for (; rows.end-- > rows.begin; row *= result.shape[rows.end])
    strides[rows.end] = row;
  for (; columns.end-- > columns.begin; column *= result.shape[columns.end])
    strides[columns.end] = column;
}

/// The axes of the arguments of a product, in groups.
struct Axes {
  using Group = FusedBoxes::Axes;
  Axes(const astra_arg_t *args, const int64_t *params, bool exchanged)
      : batch{0, uint32_t(params[0])},
        ofRows{batch.end, args[0].rank - uint32_t(params[1])},
        ofColumns{ofRows.end, args[2].rank} {
    if (exchanged)
      std::swap(ofRows, ofColumns);
  }
  Group batch, ofRows, ofColumns; // of the result
};

/// An operand that is made as it is packed, which it is, and its boxes.
class Made {
public:
  ASTRA_SHARED Made(const MadeOperand &operand, int64_t index,
                    const astra_arg_t *args, const int64_t *params)
      : index(index), operand(operand) {
    auto batch = uint32_t(params[0]), count = uint32_t(params[1]);
    uint32_t rank = args[index].rank;
    lines = index ? Axes::Group{batch + count, rank}
                  : Axes::Group{batch, rank - count};
    ks = index ? Axes::Group{batch, batch + count}
               : Axes::Group{rank - count, rank};
    boxes.emplace(operand, Axes::Group{0, batch}, lines, ks);
  }

  bool ofRows(bool exchanged) const { return (index == 1) == exchanged; }
  /// Do neighbours along k lie nearer in memory than those among lines?
  bool isByK() const {
    return lines.begin == lines.end ||
           !operand.isFarther(ks.end - 1, lines.end - 1);
  }
  /// Strides in a box. The batch has no place in it, but is more than one.
  ASTRA_SHARED void layOut(const astra_arg_t *args, const Maker &maker,
                           int64_t *strides) const {
    for (uint32_t d = 0; d < lines.begin && d < ks.begin; ++d)
      strides[d] = 1;
    layOutKept(args[index], lines, ks, maker.line(), maker.step(), strides);
  }

  int64_t index;
  std::optional<FusedBoxes> boxes;

private:
  const MadeOperand &operand;
  Axes::Group lines, ks;
};

template <class T>
astra_outcome_t contract(const astra_call_t *call, const astra_arg_t *args,
                         const int64_t *params);

/// The work of making a column, in products of it.
constexpr int64_t makingWork = 16;

/// A product of operands that are packed. Boxes take the result if there are
/// any, and an operand may be made.
template <class T>
ASTRA_SHARED astra_outcome_t multiplyPacked(
    const astra_call_t *call, const astra_arg_t *args, const int64_t *params,
    bool exchanged, const FusedBoxes *boxes, const Made *made) {
  Contraction c(args, params[0], params[1], exchanged);
  bool overlap = overlaps(args[exchanged ? 0 : 1]);
  Cut<Compute<T>> cut(c, made && !made->ofRows(exchanged) ? makingWork : 0,
                      !made && !overlap);
  int64_t ofResult[ASTRA_MAX_RANK] = {}, ofOperand[ASTRA_MAX_RANK];
  astra_arg_t all[] = {args[0], args[1], args[2]};
  std::optional<Maker> maker;
  if (Product<T>::takesBoxes && !args[2].data) {
    Axes axes(args, params, exchanged);
    layOutKept(args[2], axes.ofRows, axes.ofColumns, Product<T>::keptRowOf(cut),
               1, ofResult);
    all[2].strides = ofResult;
    c = Contraction(all, params[0], params[1], exchanged);
  }
  if (Product<T>::takesMaker && made) {
    bool ofRows = made->ofRows(exchanged), byK = made->isByK();
    // Few rows: rather wide boxes, so that long runs are read.
    if (!ofRows && !byK && cut.tiles <= 2)
      cut.takeOneChain();
    maker.emplace(makerOf(cut, &*made->boxes, ofRows, byK));
    made->layOut(args, *maker, ofOperand);
    all[made->index].strides = ofOperand;
    c = Contraction(all, params[0], params[1], exchanged);
  }
  Nest<1> columns = resultColumns(all, params[0], params[1], exchanged);
  const T *a = static_cast<const T *>(all[exchanged ? 1 : 0].data);
  const T *b = static_cast<const T *>(all[exchanged ? 0 : 1].data);
  return Product<T>(call, c, cut, columns, overlap, a, b,
                    static_cast<T *>(all[2].data), boxes,
                    maker ? &*maker : nullptr)
      .run();
}

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
  Axes axes(args, params, exchanged);
  std::optional<FusedBoxes> made;
  FusedBoxes *boxes =
      map ? &made.emplace(*map, axes.batch, axes.ofRows, axes.ofColumns)
          : nullptr;
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
  return multiplyPacked<T>(call, args, params, exchanged, boxes, nullptr);
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

/// Is it worth making an operand as it is packed?
ASTRA_SHARED bool isMadeInBoxes(const astra_arg_t *args, const int64_t *params,
                                int64_t operand) {
  if (sizeOf(args[operand]) < fusedGrain || sizeOf(args[2]) == 0 ||
      overlaps(args[1 - operand]))
    return false;
  Contraction c(args, params[0], params[1]);
  bool exchanged = isExchanged<float>(c), ofRows = (operand == 1) == exchanged;
  if (exchanged)
    c = Contraction(args, params[0], params[1], true);
  if (ofRows && DirectProduct<float>(c, nullptr, nullptr, nullptr).fits())
    return false;
  Cut<float> cut(c, ofRows ? 0 : makingWork);
  return Product<float>::packsOnce(cut, c.batch.size(), ofRows);
}

/// So made, the result perhaps taken by a map.
astra_outcome_t multiplyMade(const astra_call_t *call, const astra_arg_t *args,
                             const int64_t *params, const Made &made,
                             const ProductMap *map) {
  bool exchanged = isExchanged<float>(Contraction(args, params[0], params[1]));
  Axes axes(args, params, exchanged);
  std::optional<FusedBoxes> boxes;
  if (map)
    boxes.emplace(*map, axes.batch, axes.ofRows, axes.ofColumns);
  return multiplyPacked<float>(call, args, params, exchanged,
                               boxes ? &*boxes : nullptr, &made);
}

astra_outcome_t mapContract(const astra_call_t *call, const astra_arg_t *args,
                            const int64_t *params) {
  const int64_t operand = params[1], *own = params + 2;
  MadeOperand made(args + operand, params[0]);
  astra_arg_t all[3];
  made.putInPlace(args, operand, 1, all);
  if (isMadeInBoxes(all, own, operand))
    return multiplyMade(call, all, own, Made(made, operand, all, own), nullptr);
  return made.runWhole(call, all, operand, own, contract<float>);
}

/// A small result is taken as a whole.
astra_outcome_t mapContractMap(const astra_call_t *call,
                               const astra_arg_t *args, const int64_t *params) {
  const int64_t operand = params[3];
  const int64_t joined[] = {params[0], params[1], params[4], params[5]};
  MadeOperand made(args + operand, params[2]);
  astra_arg_t all[2 + mostFusedArgs];
  made.putInPlace(args, operand, FusedViews::planOf(params[0]).arg_count - 1,
                  all);
  ProductMap map(all, joined, 2);
  ProductMap::Operands alone = map.alone();
  if (!isMadeInBoxes(alone.all, map.own, operand))
    return made.runWhole(call, all, operand, joined, contractMap<float>);
  if (map.size() < fusedGrain)
    return ProductMap(args, params, made.inputs() + 1)
        .runInTurn(call, mapContract);
  return multiplyMade(call, alone.all, map.own,
                      Made(made, operand, alone.all, map.own), &map);
}

} // namespace

ASTRA_DEFINE_VARIANT(map_contract, f32, boxes, mapContract(call, args, params))
ASTRA_DEFINE_VARIANT(map_contract_map, f32, boxes,
                     mapContractMap(call, args, params))
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
