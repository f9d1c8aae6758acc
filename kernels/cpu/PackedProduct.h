// Products of floats whose operands are packed. The result is cut into blocks,
// one task each, in which the rows of a meet the columns of b panel by panel,
// in tiles whose chains of 256 k stay in registers: a panel all chains, where
// the rows of the block stay near, else all panels one chain. Both operands are
// packed in the order in which tiles read them: where several blocks share them
// before, or by the first block of rows, else by the task. Columns that lie
// side by side may be packed by the first tile that reads them. The sums lie
// tile by tile, and the last chain puts them into the result where it can hold
// them. f16 and bf16 widen as they are packed. Where a fused map takes the
// result (FusedProduct.h), it gets panels of a block as soon as they are
// complete; where one makes an operand, it does so just before that is packed,
// some rows or columns by some k at a time. Order: kernels/Canonical.h. For
// Contract.cpp alone: the compiler sees that parts have but one user.
#ifndef ASTRA_KERNELS_CPU_PACKEDPRODUCT_H
#define ASTRA_KERNELS_CPU_PACKEDPRODUCT_H

#include "kernels/Ops.h"
#include "kernels/cpu/DirectProduct.h"
#include "kernels/cpu/ProductMaker.h"
#include "kernels/cpu/ProductPacking.h"

ASTRA_KERNELS_BEGIN
namespace {

template <class T> class Product {
public:
  using C = Compute<T>;
  using Chain = ProductChain;
  static constexpr int64_t panelColumns = Cut<C>::panel;
  /// Longer rows cost less to pack for each block than to keep.
  static constexpr int64_t sharedLength = 2 * chainLength * foldLength;

  static constexpr bool takesBoxes = !isSmallFloat<T>;
  static constexpr bool takesMaker = std::is_same_v<T, float>;

  /// If there are boxes, they take the result; without `out` it has no other
  /// place. The operand of a maker is laid out as its boxes are.
  Product(const astra_call_t *call, const Contraction &c, const Cut<C> &cut,
          const Nest<1> &outColumns, bool overlap, const T *a, const T *b,
          T *out, const FusedBoxes *boxes, const Maker *maker)
      : call(call), c(c), outColumns(outColumns), cut(cut),
        packing(c, this->cut), a(a), b(b), out(out), boxes(boxes), maker(maker),
        keptRow(takesBoxes && !out ? keptRowOf(cut) : 0) {
    bool oneRun = c.contracted.innerExtent() == cut.k;
    inPlace = !isSmallFloat<T> && oneRun && c.columns.innerStride(0) == 1 &&
              c.columns.innerExtent() == cut.n;
    direct = !isSmallFloat<T> && cut.levels == 1 &&
             outColumns.innerStride(0) == 1 && c.rows.innerExtent() == cut.m;
    int64_t batch = c.batch.size();
    bool isNear = inPlace && !makes(true, false);
    sharesColumns = !overlap && isOne(c.batch, 1) &&
                    cut.rowBlocks * batch > (isNear ? 2 : 1);
    sharesRows = isOne(c.batch, 0) && cut.columnBlocks * batch > 1 &&
                 cut.k <= sharedLength;
  }

  /// From one row to the next in a block of the result that is kept.
  static int64_t keptRowOf(const Cut<C> &cut) {
    return cut.blockPanels * panelColumns + Cut<C>::gap;
  }

  /// Whether no element of an operand is packed twice, so that it can be made
  /// as it is packed.
  static bool packsOnce(const Cut<C> &cut, int64_t batch, bool ofRows) {
    if (!ofRows)
      return batch == 1 || cut.rowBlocks == 1;
    return cut.columnBlocks == 1 || (batch == 1 && cut.k <= sharedLength);
  }

  astra_outcome_t run() {
    std::optional<Scratch<C>> rows, columns;
    if (sharesRows)
      sharedRows = rows.emplace(call, cut.packedRows()).get();
    if (sharesColumns)
      sharedColumns = columns.emplace(call, cut.packedColumns()).get();
    if ((sharesRows && !sharedRows) || (sharesColumns && !sharedColumns))
      return ASTRA_ERROR_OUT_OF_MEMORY;
    bool packsFirst = sharesColumns && cut.firstPacks;
    if ((sharesRows && !packAllRows()) ||
        (sharesColumns && !packsFirst && !packAllColumns()) ||
        (packsFirst && !runAll(0, 1, true)) ||
        !runAll(packsFirst, c.batch.size() * cut.rowBlocks, false))
      return ASTRA_ERROR_OUT_OF_MEMORY;
    return ASTRA_OK;
  }

private:
  static constexpr int64_t packingPanels = 8; // at least, in a part

  /// Do all products of the batch have one operand in common?
  static bool isOne(const Nest<3> &batch, int operand) {
    return batch.innerExtent() == batch.size() &&
           batch.innerStride(operand) == 0;
  }

  /// One block of the result, with the memory of the thread that makes it.
  struct Block {
    const T *a, *b;
    T *out, *kept, *box;
    int64_t batch;
    int64_t tile, endTile, panel, endPanel; // of all
    int64_t row, rows, column, columns;
    C *packedRows, *packedPanel, *sums, *edge;
    std::optional<Scratch<C>> *scaled; // of a panel and the rows, if needed
    bool packs;                        // the columns, for all blocks
  };

  /// Where products are slow with subnormals.
  static constexpr bool scales = std::is_same_v<C, float>;

  /// What is known of the operands of a block in some chains, and their copies.
  struct Magnitudes {
    Least rows[Cut<C>::mostChains][Cut<C>::mostTiles], panel;
    Scaled<C> scaledRows[Cut<C>::mostChains][Cut<C>::mostTiles], scaledPanel;
    bool tinyRows = false;
  };

  /// Some blocks of rows, and all columns, which the first block of rows may
  /// pack for the others. False where there is no memory.
  bool runAll(int64_t first, int64_t last, bool packs) {
    // Work for many threads, each of which packs a part.
    int64_t parts = cut.columnBlocks, fine = cut.panels / packingPanels;
    if (packs && fine > parts)
      parts = fine;
    int64_t work = cut.k * cut.height * cut.n / parts;
    bool failed = false;
    parallelFor(call, (last - first) * parts, 200000 / (work + 1) + 1,
                [&](int64_t begin, int64_t end) {
                  begin += first * parts;
                  end += first * parts;
                  if (!runBlocks(begin, end, parts, packs))
                    __atomic_store_n(&failed, true, __ATOMIC_RELAXED);
                });
    return !failed;
  }

  bool runBlocks(int64_t begin, int64_t end, int64_t parts, bool packs) {
    bool sums = cut.levels > 1 || cut.k > chainLength;
    int64_t rowSpace = cut.rowSpace() + cut.chains * Tile<C>::lanes;
    Buffer<C> rows(call, sharesRows ? 0 : rowSpace);
    Buffer<C> panel(call, sharesColumns ? 0 : panelColumns * cut.chain);
    Buffer<C> edge(call, cut.height * panelColumns);
    Buffer<C> waiting(call, sums ? cut.levels * cut.area() : 0);
    Buffer<T> kept(call, takesBoxes ? keptRow * cut.height : 0);
    Buffer<T> box(call, makes(sharesRows, sharesColumns) ? maker->size() : 0);
    std::optional<Scratch<C>> scaled;
    if (!rows || !panel || !edge || !waiting || !kept || !box)
      return false;
    Block block = {};
    block.kept = kept.get();
    block.box = box.get();
    block.packedRows = rows.get();
    block.packedPanel = panel.get();
    block.sums = waiting.get();
    block.edge = edge.get();
    block.scaled = &scaled;
    block.packs = packs;
    while (begin < end) {
      int64_t count = 1;
      if (cut.joins && !keptRow)
        count = least(end - begin, parts - begin % parts);
      place(block, begin, count, parts);
      make(block);
      begin += count;
    }
    return true;
  }

  /// Is an operand made that is not of those?
  bool makes(bool rows, bool columns) const {
    return takesMaker && maker && !(maker->ofRows ? rows : columns);
  }

  /// Makes a box of the operand; gives where its line 0 and k 0 would be.
  ASTRA_SHARED const T *makeBox(int64_t batch, int64_t line, int64_t lines,
                                int64_t k, int64_t ks, T *to) const {
    maker->boxes->run(
        {batch, line, lines, k, ks, to, maker->line(), maker->step()});
    return to - (line * maker->line() + k * maker->step());
  }

  /// A block and those beside it that are made with it.
  void place(Block &block, int64_t index, int64_t count, int64_t parts) const {
    int64_t base[3], blocks = cut.rowBlocks * parts;
    block.batch = index / blocks;
    c.batch.offsetsAt(block.batch, base);
    block.a = a ? a + base[0] : nullptr;
    block.b = b ? b + base[1] : nullptr;
    int64_t rowBlock = index % blocks / parts, part = index % parts;
    block.tile = cut.tileOf(rowBlock);
    block.endTile = cut.tileOf(rowBlock + 1);
    block.panel = part * cut.panels / parts;
    block.endPanel = (part + count) * cut.panels / parts;
    block.row = cut.rowOf(block.tile);
    block.rows = cut.rowOf(block.endTile) - block.row;
    block.column = block.panel * panelColumns;
    block.columns = least(block.endPanel * panelColumns, cut.n) - block.column;
    // Of a result that is kept nothing but the block is there.
    block.out = takesBoxes && keptRow
                    ? block.kept - (block.row * keptRow + block.column)
                    : out + base[2];
  }

  //===-- The order of summation ------------------------------------------===//

  void make(const Block &block) {
    uint64_t folds = 0;
    int waiting = 0; // complete subtrees, the largest first
    for (int64_t at = 0; at < cut.k; at += chainLength * foldLength) {
      Block level = block;
      level.sums = block.sums + waiting * cut.area();
      int64_t end = least(at + chainLength * foldLength, cut.k);
      for (int64_t p = at; p < end; p += cut.chains * chainLength)
        addChains(level, p, least(p + cut.chains * chainLength, end), p == at);
      ++waiting;
      for (uint64_t bits = folds++; bits & 1; bits >>= 1, --waiting)
        addNext(block, waiting - 2);
    }
    for (; waiting > 1; --waiting)
      addNext(block, waiting - 2);
    if (cut.levels > 1)
      for (int64_t p = block.panel; p < block.endPanel; ++p) {
        write(block, p, sumsOf(block, p));
        if (takesBoxes && boxes)
          handOver(block, p);
      }
  }

  /// Adds the sums of the next level to those of one.
  void addNext(const Block &block, int64_t level) {
    for (int64_t p = block.panel; p < block.endPanel; ++p) {
      C *to = sumsOf(block, p) + level * cut.area();
      const C *next = to + cut.area();
      for (int64_t i = 0; i < block.rows * panelColumns; ++i)
        to[i] += next[i];
    }
  }

  /// The sums of a panel of the block, a row of it after the other.
  C *sumsOf(const Block &block, int64_t panel) const {
    return block.sums + cut.sumsAt(panel - block.panel);
  }

  /// Where in the result the sums of a panel of the block may lie, row by row;
  /// null where they must be written later.
  C *placeOf(const Block &block, int64_t panel) const {
    if constexpr (!isSmallFloat<T>) {
      int64_t column = panel * panelColumns, at[1];
      int64_t run = outColumns.innerExtent();
      if (direct && column + panelColumns <= cut.n &&
          column % run + panelColumns <= run) {
        outColumns.offsetsAt(column, at);
        return block.out + block.row * c.rows.innerStride(1) + at[0];
      }
    }
    return nullptr;
  }

  /// Adds the chains from a k to another. Each panel meets them all before the
  /// next panel: its sums stay near, as do the rows of the block.
  void addChains(Block &block, int64_t firstK, int64_t endK, bool first) {
    Magnitudes magnitudes;
    bool isMade = makes(sharesRows, true);
    int64_t together = isMade ? maker->count : block.endTile - block.tile;
    for (int64_t t = block.tile; t < block.endTile; t += together) {
      int64_t end = least(t + together, block.endTile), row = cut.rowOf(t);
      if (isMade)
        block.a = makeBox(block.batch, row, cut.rowOf(end) - row, firstK,
                          endK - firstK, block.box);
      for (int64_t p = firstK; p < endK; p += chainLength)
        for (int64_t i = t; i < end; ++i)
          takeRows(block, i, {firstK, p, least(chainLength, endK - p)},
                   magnitudes);
    }
    Places places(c.contracted, firstK, endK - firstK);
    for (int64_t panel = block.panel; panel < block.endPanel; ++panel) {
      if (makes(true, sharesColumns))
        makeColumns(block, panel, firstK, endK - firstK);
      for (int64_t p = firstK; p < endK; p += chainLength)
        addChain(block, panel, {firstK, p, least(chainLength, endK - p)},
                 first && p == firstK, places, magnitudes);
    }
  }

  /// Makes the columns of a panel and some more, if they are not there.
  void makeColumns(Block &block, int64_t panel, int64_t k, int64_t ks) const {
    if ((panel - block.panel) % maker->count != 0)
      return;
    int64_t column = panel * panelColumns;
    int64_t end = least(column + maker->lines, block.column + block.columns);
    block.b = makeBox(block.batch, column, end - column, k, ks, block.box);
  }

  void addChain(const Block &block, int64_t panel, const Chain &chain,
                bool first, Places &places, Magnitudes &magnitudes) {
    bool last = cut.levels == 1 && chain.k + chain.ks == cut.k;
    TileCall<C> tile = {};
    C *sums = sumsOf(block, panel);
    C *place = last ? placeOf(block, panel) : nullptr;
    tile.k = chain.ks;
    tile.from = first ? nullptr : sums;
    tile.to = place ? place : last ? block.edge : sums;
    tile.fromStride = panelColumns;
    tile.toStride = place ? c.rows.innerStride(1) : panelColumns;
    tile.farResult = place && cut.m * cut.n * int64_t(sizeof(C)) > 1 << 19;
    bool copies = takeColumns(block, panel, chain, places, tile, magnitudes);
    addPanel(block, chain, tile, copies, magnitudes);
    if (last && !place)
      write(block, panel, block.edge);
    if (takesBoxes && last && boxes)
      handOver(block, panel);
  }

  /// The packed rows of a tile.
  C *rowsFor(const Block &block, int64_t tile, const Chain &chain) const {
    if (sharesRows)
      return sharedRows + cut.rowsAt(tile, chain.k, chain.ks);
    return block.packedRows + (chain.k - chain.first) * cut.height +
           chain.index() * Tile<C>::lanes +
           (cut.rowOf(tile) - block.row) * chain.ks;
  }

  /// Packs the rows of a tile and looks at them.
  void takeRows(const Block &block, int64_t t, const Chain &chain,
                Magnitudes &known) {
    C *packed = rowsFor(block, t, chain);
    if (!sharesRows)
      packing.packRows(block.a, t, chain.k, chain.ks, packed,
                       t == block.tile ? block.rows : 0);
    if constexpr (scales) {
      int64_t count = cut.rowsOf(t) * chain.ks;
      Least &rows = known.rows[chain.index()][t - block.tile];
      rows = sharesRows ? notedLeast(packed, count) : glance(packed, count);
      known.tinyRows |= rows.isTiny();
    }
  }

  C *scaledMemory(const Block &block) const {
    if (!*block.scaled)
      block.scaled->emplace(call, panelColumns * cut.chain + cut.rowSpace());
    return (*block.scaled)->get();
  }

  /// Where one operand of a tile has subnormals, reads both from copies.
  void scale(const Block &block, int64_t index, const Chain &chain,
             Magnitudes &known, TileCall<C> &tile) {
    int64_t ofRows = cut.rowsOf(block.tile + index) * tile.k;
    int64_t ofPanel = tile.k * panelColumns;
    if (!known.panel.known)
      known.panel = leastOf(tile.b, ofPanel);
    Least &rows = known.rows[chain.index()][index];
    if (!rows.known)
      rows = leastOf(tile.a, ofRows);
    if (rows.isTiny() == known.panel.isTiny())
      return;
    C *memory = scaledMemory(block);
    if (!memory)
      return; // slow, but right
    bool raised = rows.isTiny();
    const C *b =
        known.scaledPanel.get(tile.b, ofPanel, known.panel, !raised, memory);
    memory += panelColumns * cut.chain + (chain.k - chain.first) * cut.height +
              (cut.rowOf(block.tile + index) - block.row) * tile.k;
    const C *a = b ? known.scaledRows[chain.index()][index].get(
                         tile.a, ofRows, rows, raised, memory)
                   : nullptr;
    if (a) {
      tile.a = a;
      tile.b = b;
    }
  }

  void addPanel(const Block &block, const Chain &chain, TileCall<C> tile,
                bool copies, Magnitudes &known) {
    const Least *ofRows = known.rows[chain.index()];
    for (int64_t t = block.tile; t < block.endTile; ++t) {
      int64_t rows = cut.rowsOf(t);
      const C *b = tile.b;
      tile.a = rowsFor(block, t, chain);
      if constexpr (scales)
        if (!copies &&
            (ofRows[t - block.tile].isTiny() || known.panel.isTiny()))
          scale(block, t - block.tile, chain, known, tile);
      (copies ? tileOf<C, true>(rows) : tileOf<C, false>(rows))(tile);
      tile.b = b;
      tile.from += tile.from ? rows * tile.fromStride : 0;
      tile.to += rows * tile.toStride;
      tile.next += tile.nextStep * tile.k;
      if (copies) {
        copies = false;
        tile.b = tile.copy;
        if (block.packs)
          note(tile.copy, chain.ks, known);
      }
    }
  }

  /// Where the tiles find a panel's columns; true if the first is to pack them.
  bool takeColumns(const Block &block, int64_t panel, const Chain &chain,
                   Places &places, TileCall<C> &tile, Magnitudes &known) {
    int64_t column = panel * panelColumns;
    C *packed = sharesColumns
                    ? sharedColumns + cut.panelAt(panel, chain.k, tile.k)
                    : block.packedPanel;
    tile.b = tile.next = packed;
    known.panel = {};
    known.scaledPanel = {};
    if (sharesColumns && !block.packs) {
      tile.next = sharedColumns + cut.panelAt(panel + 1, chain.k, tile.k);
      tile.nextStep = panelColumns / (block.endTile - block.tile);
      if constexpr (scales) {
        known.panel = notedLeast(tile.b, tile.k * panelColumns);
        __builtin_prefetch(tile.next + tile.k * panelColumns);
      }
      return false;
    }
    if constexpr (!isSmallFloat<T>)
      if (!known.tinyRows && placeVectors(block.b, column, tile)) {
        tile.places = places.get() + chain.k - chain.first;
        tile.copy = packed;
        return true;
      }
    packing.packPanel(block.b, column, chain, places, packed);
    if (block.packs)
      note(packed, chain.ks, known);
    return false;
  }

  /// Looks at a panel that was packed for all blocks.
  void note(C *packed, int64_t ks, Magnitudes &known) const {
    if constexpr (scales) {
      noteLeast(packed, ks * panelColumns);
      known.panel = notedLeast(packed, ks * panelColumns);
    }
  }

  /// Where the vectors of a panel lie, if each is a piece of memory.
  bool placeVectors(const C *from, int64_t column, TileCall<C> &tile) const {
    constexpr int64_t lanes = Tile<C>::lanes;
    int64_t run = c.columns.innerExtent();
    if (column + panelColumns > cut.n || c.columns.innerStride(0) != 1)
      return false;
    for (int v = 0; v < 2; ++v, column += lanes) {
      if (run < cut.n && column % run + lanes > run)
        return false;
      int64_t at[2];
      c.columns.offsetsAt(column, at);
      tile.columns[v] = from + at[0];
    }
    return true;
  }

  //===-- Packing ---------------------------------------------------------===//

  /// False where there is no memory.
  bool packAllRows() {
    bool isMade = makes(false, true), failed = false;
    int64_t together = isMade ? maker->count : 1;
    int64_t most = isMade ? maker->ks : chainLength;
    int64_t pieces = ceil(cut.k, most), groups = ceil(cut.tiles, together);
    int64_t grain =
        elementGrain / (Tile<C>::rows * together * least(most, cut.k)) + 1;
    parallelFor(call, groups * pieces, grain, [&](int64_t begin, int64_t end) {
      Buffer<T> box(call, isMade ? maker->size() : 0);
      if (!box)
        return __atomic_store_n(&failed, true, __ATOMIC_RELAXED);
      for (int64_t i = begin; i < end; ++i) {
        int64_t tile = i / pieces * together, firstK = i % pieces * most;
        packTiles(tile, least(tile + together, cut.tiles), firstK,
                  least(firstK + most, cut.k), isMade ? box.get() : nullptr);
      }
    });
    return !failed;
  }

  /// Packs the rows of some tiles, which are made if there is a box for them.
  void packTiles(int64_t tile, int64_t endTile, int64_t firstK, int64_t endK,
                 T *box) {
    int64_t row = cut.rowOf(tile), rows = cut.rowOf(endTile) - row;
    const T *from = box ? makeBox(0, row, rows, firstK, endK - firstK, box) : a;
    for (int64_t p = firstK; p < endK; p += chainLength)
      for (int64_t t = tile; t < endTile; ++t) {
        int64_t ks = least(chainLength, endK - p);
        C *to = sharedRows + cut.rowsAt(t, p, ks);
        packing.packRows(from, t, p, ks, to);
        if constexpr (scales)
          noteLeast(to, cut.rowsOf(t) * ks);
      }
  }

  /// False where there is no memory.
  bool packAllColumns() {
    int64_t chains = ceil(cut.k, chainLength);
    bool isMade = makes(true, false), failed = false;
    // Panels, so that long runs are read; there should be work for two threads.
    int64_t together =
        least(ceil(cut.panels * chains, 2), isMade ? maker->count : 16);
    int64_t groups = ceil(cut.panels, together);
    int64_t grain = ceil(elementGrain, together * panelColumns * cut.chain);
    parallelFor(call, groups * chains, grain, [&](int64_t begin, int64_t end) {
      Buffer<T> box(call, isMade ? maker->size() : 0);
      if (!box)
        return __atomic_store_n(&failed, true, __ATOMIC_RELAXED);
      for (int64_t i = begin; i < end; ++i) {
        int64_t firstK = i / groups * chainLength;
        int64_t ks = least(chainLength, cut.k - firstK);
        int64_t first = i % groups * together;
        packPanels(first, least(first + together, cut.panels), firstK, ks,
                   isMade ? box.get() : nullptr);
      }
    });
    return !failed;
  }

  /// Packs some panels, whose columns are made if there is a box for them.
  void packPanels(int64_t first, int64_t last, int64_t firstK, int64_t ks,
                  T *box) {
    int64_t p = first, column = first * panelColumns;
    int64_t columns = least(last * panelColumns, cut.n) - column;
    const T *from = box ? makeBox(0, column, columns, firstK, ks, box) : b;
    Places places(c.contracted, firstK, ks);
    if constexpr (!isSmallFloat<T>)
      if (inPlace)
        p = packing.packBeside(from, p, last, firstK, ks, sharedColumns);
    for (; p < last; ++p)
      packing.packPanel(from, p * panelColumns, {firstK, firstK, ks}, places,
                        sharedColumns + cut.panelAt(p, firstK, ks));
    if constexpr (scales)
      for (p = first; p < last; ++p)
        noteLeast(sharedColumns + cut.panelAt(p, firstK, ks),
                  ks * panelColumns);
  }

  //===-- The result ------------------------------------------------------===//

  /// Puts the sums of a panel of the block into the result.
  void write(const Block &block, int64_t panel, const C *sum) {
    int64_t column = panel * panelColumns;
    int64_t end = least(column + panelColumns, cut.n);
    for (int64_t i = 0; i < block.rows; ++i, sum += panelColumns) {
      int64_t row[2];
      c.rows.offsetsAt(block.row + i, row);
      const C *from = sum;
      c.columns.walk(column, end, [&](const int64_t (&at)[2], int64_t run) {
        storeRun(from, run, block.out + row[1] + at[1],
                 c.columns.innerStride(1));
        from += run;
        return true;
      });
    }
  }

  /// Gives panels of the block, up to one that is complete, to those who take
  /// the result: some at a time, so that rows of them are long.
  ASTRA_SHARED void handOver(const Block &block, int64_t panel) const {
    constexpr int64_t together = 512 / panelColumns;
    int64_t count = (panel - block.panel) % together + 1;
    if (count < together && panel + 1 < block.endPanel)
      return;
    int64_t first = (panel + 1 - count) * panelColumns;
    int64_t end = least((panel + 1) * panelColumns, cut.n);
    T *kept = keptRow ? block.out + block.row * keptRow + first : nullptr;
    boxes->run({block.batch, block.row, block.rows, first, end - first, kept,
                keptRow, 1});
  }

  const astra_call_t *call;
  const Contraction &c;
  const Nest<1> &outColumns; // of the result alone, where more axes merge
  Cut<C> cut;
  ProductPacking<T> packing;
  const T *a, *b;
  T *out;
  const FusedBoxes *boxes; // that take the result, or null
  const Maker *maker;      // of an operand, or null
  int64_t keptRow;         // of a block that is kept for them, or 0
  bool inPlace; // columns of b lie side by side, one row of them for each k
  bool direct;  // the last chain may put the sums into the result
  bool sharesRows, sharesColumns; // packed before, for all blocks
  C *sharedRows = nullptr, *sharedColumns = nullptr;
};

} // namespace
ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_CPU_PACKEDPRODUCT_H
