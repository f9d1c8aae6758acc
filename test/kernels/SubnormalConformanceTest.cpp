// Products whose operands and results are subnormal, or nearly: what is done
// for their speed may change no bit. Magnitudes differ by rows, by k or by
// element, so that whole rows, single k or anything at all is tiny, beside
// numbers that a power of two more or less would take out of range.
#include "Conformance.h"
#include <cmath>

using namespace astra::testing;
using astra::bitsAs;

namespace {

struct Extents {
  int64_t batch, rows, contracted, columns;
};

/// Along which axis of an operand, [batch, outer, inner], magnitudes differ.
enum class Along { Nothing, Outer, Inner, Both };

class Magnitudes {
public:
  Magnitudes(Random &random, Along along, bool specials)
      : random(random), along(along), specials(specials),
        salt(int64_t(random() % 1000)) {}

  float at(int64_t outer, int64_t inner) const {
    // Mostly moderate, and always so close together that fma chains meet.
    static const int exponents[] = {0,    -1,   -126, -130, -149, -140,
                                    -101, -102, -103, 103,  104,  -122};
    int64_t place = along == Along::Outer   ? outer
                    : along == Along::Inner ? inner
                    : along == Along::Both  ? int64_t(random() % 100)
                                            : 0;
    uint64_t mixed = uint64_t(place + salt) * 0x9e3779b97f4a7c15u >> 40;
    int exponent = along == Along::Nothing || mixed % 3 == 0
                       ? 0
                       : exponents[mixed / 3 % 12];
    const float special[] = {NAN, INFINITY, -INFINITY, 3e38f, -0.0f};
    if (specials && random() % 200 == 0)
      return special[random() % 5];
    if (random() % 8 == 0)
      return 0.0f;
    double fraction = std::uniform_real_distribution<double>(1, 2)(random);
    double value = std::ldexp(random() % 4 ? fraction : 1.5, exponent);
    return float(random() % 2 ? value : -value);
  }

private:
  Random &random;
  Along along;
  bool specials;
  int64_t salt;
};

void fill(AnyTensor &tensor, int64_t inner, const Magnitudes &magnitudes) {
  int64_t place = 0;
  tensor.fillWith([&] {
    float value = magnitudes.at(place / inner, place % inner);
    ++place;
    return tensor.dtype.bytes == 4 ? uint64_t(bitsAs<uint32_t>(value))
                                   : uint64_t(bitsAs<uint32_t>(value) >> 16);
  });
}

TEST_P(Conformance, ContractionsWithSubnormals) {
  const Extents cases[] = {
      {1, 3, 40, 70},    {1, 30, 64, 64},   {3, 45, 33, 40},  {1, 64, 300, 64},
      {2, 29, 270, 33},  {1, 118, 20, 140}, {1, 9, 700, 100}, {4, 40, 20, 100},
      {1, 120, 130, 70}, {1, 118, 520, 34}, {4, 20, 300, 35}, {5, 33, 140, 64},
      {1, 460, 20, 270}, {1, 450, 270, 70}};
  const Along ways[] = {Along::Nothing, Along::Outer, Along::Inner,
                        Along::Both};
  for (const Row &row : allRows()) {
    if (row.name != "contract_f32" && row.name != "contract_bf16")
      continue;
    for (const Extents &e : cases)
      for (int way = 0; way < 16; ++way) {
        bool specials = random() % 3 == 0;
        Layout layout = layouts[random() % 2];
        std::vector<AnyTensor> in;
        in.emplace_back(row.in[0], Shape{e.batch, e.rows, e.contracted},
                        layout);
        in.emplace_back(row.in[1], Shape{e.batch, e.contracted, e.columns},
                        layouts[random() % 2]);
        fill(in[0], layout == Layout::Dense ? e.contracted : e.rows,
             Magnitudes(random, ways[way % 4], specials));
        fill(in[1], e.columns, Magnitudes(random, ways[way / 4], specials));
        AnyTensor out(row.out, {e.batch, e.rows, e.columns}, Layout::Dense);
        ASSERT_TRUE(agree(row, in, out, {1, 1}))
            << row.name << " case " << &e - cases << " way " << way;
      }
  }
}

/// Results in the midst of the subnormals, where every step rounds to a
/// multiple of the least of them, and just above.
TEST_P(Conformance, ContractionsWithSubnormalResults) {
  for (const Row &row : allRows()) {
    if (row.name != "contract_f32")
      continue;
    for (int exponent = -152; exponent < -118; ++exponent) {
      std::vector<AnyTensor> in;
      in.emplace_back(row.in[0], Shape{20, 64}, Layout::Dense);
      in.emplace_back(row.in[1], Shape{64, 72}, Layout::Dense);
      int most = exponent < -149 ? -149 : exponent;
      for (AnyTensor &tensor : in) {
        bool isSecond = &tensor != in.data();
        tensor.fillWith([&] {
          double fraction =
              std::uniform_real_distribution<double>(-2, 2)(random);
          if (random() % 3 == 0)
            fraction = std::round(fraction * 4) / 4; // ties
          return uint64_t(bitsAs<uint32_t>(
              float(std::ldexp(fraction, isSecond ? exponent - most : most))));
        });
      }
      AnyTensor out(row.out, {20, 72}, Layout::Dense);
      ASSERT_TRUE(agree(row, in, out, {0, 1})) << "exponent " << exponent;
    }
  }
}

} // namespace
