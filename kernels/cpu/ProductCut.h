// How a product is cut into blocks, panels and tiles, and where these lie in
// operands that are packed for all blocks. Knows extents, not elements.
#ifndef ASTRA_KERNELS_CPU_PRODUCTCUT_H
#define ASTRA_KERNELS_CPU_PRODUCTCUT_H

#include "kernels/Contraction.h"
#include "kernels/cpu/ProductTile.h"

ASTRA_KERNELS_BEGIN

inline int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }
inline int64_t ceil(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// The extents of a product and how it is cut. Tiles of rows differ by one row
/// at most; a block has so many of them and of panels of columns.
template <class C> struct Cut {
  static constexpr int64_t panel = Tile<C>::columns;
  static constexpr int64_t mostTiles = 8;  // of rows in a block
  static constexpr int64_t mostChains = 4; // that a panel meets at once
  /// Packed rows of a block that stay near while the panels pass.
  static constexpr int64_t nearBytes = (Tile<C>::rows == 14 ? 480 : 128) << 10;
  /// Operands that are packed for all blocks: panels do not begin on the same
  /// lines of the cache, and whole vectors may be written after a tile.
  static constexpr int64_t gap = Tile<C>::columns;

  /// The work of making the columns, if they are made, is that of so many rows.
  /// The first block of rows may pack the columns for the others.
  ASTRA_SHARED explicit Cut(const Contraction &c, int64_t made = 0,
                            bool mayPack = false)
      : m(c.rows.size()), n(c.columns.size()), k(c.contracted.size()),
        tiles(ceil(m, Tile<C>::rows)), panels(ceil(n, panel)) {
    rowBlocks = ceil(tiles, mostTiles);
    firstPacks = mayPack && rowBlocks * c.batch.size() > 4;
    if (rowBlocks > 2) // as much work for each of two threads
      rowBlocks += (rowBlocks + (firstPacks && c.batch.size() == 1)) % 2;
    int64_t blocks = rowBlocks * c.batch.size();
    columnBlocks = ceil(panels, 32);
    blockTiles = ceil(tiles, rowBlocks);
    leastRows = m / tiles;
    higherTiles = m % tiles;
    height = least(blockTiles * (leastRows + 1), m);
    chain = least(k, chainLength);
    // All or one: sums that wait would take the place of the rows.
    bool near = k <= mostChains * chainLength &&
                height * k * int64_t(sizeof(C)) <= nearBytes;
    chains = near ? ceil(k, chainLength) : 1;
    joins = k <= chains * chainLength;
    // Few blocks of rows are work for some threads too.
    while (blocks * columnBlocks < 4 && 2 * columnBlocks <= panels &&
           (m + made) * n / (joins ? rowBlocks * columnBlocks : columnBlocks) *
                   k >
               (joins ? 1 << 20 : 1 << 23))
      columnBlocks *= 2;
    blockPanels = ceil(panels, columnBlocks);
    int64_t folds = ceil(k, chainLength * foldLength);
    for (levels = 1; folds > 1; folds = ceil(folds, 2))
      ++levels;
    sumPanels = k > chains * chainLength ? blockPanels : 1;
  }

  /// All panels of a block meet one chain before the next.
  void takeOneChain() {
    chains = 1;
    joins = k <= chainLength;
    sumPanels = joins ? 1 : blockPanels;
  }

  /// Blocks of rows differ by one tile at most.
  int64_t tileOf(int64_t rowBlock) const {
    return rowBlock * tiles / rowBlocks;
  }

  int64_t rowsOf(int64_t tile) const {
    return leastRows + (tile < higherTiles);
  }
  int64_t rowOf(int64_t tile) const {
    return tile * leastRows + least(tile, higherTiles);
  }
  int64_t area() const { return height * sumPanels * panel; }
  /// Of the rows of a block in the chains that a panel meets.
  int64_t rowSpace() const {
    return height * (k > chainLength ? chains * chainLength : k);
  }
  /// Where the sums of a panel of a block begin.
  int64_t sumsAt(int64_t panelOfBlock) const {
    return sumPanels > 1 ? panelOfBlock * height * panel : 0;
  }
  /// Where the k from firstK on begin in operands packed for all blocks.
  int64_t rowsAt(int64_t tile, int64_t firstK, int64_t ks) const {
    return firstK * m + firstK / chainLength * tiles * gap + rowOf(tile) * ks +
           tile * gap;
  }
  int64_t panelAt(int64_t index, int64_t firstK, int64_t ks) const {
    return firstK * panels * panel + firstK / chainLength * panels * gap +
           index * (ks * panel + gap);
  }
  int64_t packedRows() const {
    return k * m + ceil(k, chainLength) * tiles * gap;
  }
  int64_t packedColumns() const {
    return (k * panel + ceil(k, chainLength) * gap) * panels;
  }

  int64_t m, n, k, tiles, panels, leastRows, higherTiles;
  int64_t rowBlocks, columnBlocks, blockTiles, blockPanels, height, chain;
  int64_t chains;    // that each panel meets before the next panel
  bool joins;        // blocks beside one another may be made as one
  bool firstPacks;   // the first block of rows, all columns, before the others
  int64_t sumPanels; // whose sums are kept: one, or those of a block
  int64_t levels;    // sums that may wait in the tree, and the one being made
};

/// Where in b the k of some chains are, found out when they are first asked
/// for, with a few places more that are only looked at.
class Places {
public:
  Places(const Nest<2> &contracted, int64_t firstK, int64_t count)
      : contracted(contracted), firstK(firstK), count(count) {}
  const int64_t *get() {
    if (known == 0)
      contracted.walk(
          firstK, firstK + count, [&](const int64_t (&at)[2], int64_t run) {
            for (int64_t i = 0; i < run; ++i)
              places[known++] = at[1] + i * contracted.innerStride(1);
            return true;
          });
    return places;
  }

private:
  static constexpr int64_t most = Cut<float>::mostChains * chainLength;
  const Nest<2> &contracted;
  int64_t firstK, count, known = 0, places[most + rowsAhead] = {};
};

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_CPU_PRODUCTCUT_H
