// set_out, overlap_add and conv, every variant that the processor has, against
// what they mean written out element by element, at random strides, places and
// sizes.
#include "KernelTesting.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace astra::testing;

namespace {

/// A convolution whose axes have these extents.
struct Convolution {
  int64_t samples, channels, outputs;
  std::vector<int64_t> extents, window, low, stride, dilation, counts;
};

class Window : public ::testing::TestWithParam<uint32_t> {
public:
  void SetUp() override {
    if (!processorHas(GetParam()))
      GTEST_SKIP() << "this processor lacks the level";
  }

  int64_t draw(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }

  /// With its axes in another order in memory, gaps between elements, and one
  /// axis backwards, by chance.
  template <class T> Tensor<T> makeTensor(std::vector<int64_t> shape) {
    Tensor<T> tensor(shape);
    int64_t step = draw(1, 2), size = 1;
    std::vector<size_t> order(shape.size());
    for (size_t d = 0; d < order.size(); ++d)
      order[d] = d;
    std::shuffle(order.begin(), order.end(), random);
    for (size_t d : order) {
      tensor.strides[d] = step * size;
      size *= shape[d] ? shape[d] : 1;
    }
    tensor.data.assign(size_t(step * size), T(0));
    for (T &value : tensor.data)
      value = T(draw(-1000, 1000)) / T(8);
    size_t turned = size_t(draw(0, int64_t(shape.size()) - 1));
    if (draw(0, 1) && shape[turned]) {
      tensor.origin = (shape[turned] - 1) * tensor.strides[turned];
      tensor.strides[turned] = -tensor.strides[turned];
    }
    return tensor;
  }

  template <class T>
  static T &at(Tensor<T> &tensor, const std::vector<int64_t> &index) {
    int64_t offset = tensor.origin;
    for (size_t d = 0; d < index.size(); ++d)
      offset += index[d] * tensor.strides[d];
    return tensor.data[size_t(offset)];
  }

  /// Calls f(index) in row-major order.
  template <class F>
  static void forEach(const std::vector<int64_t> &shape, F f) {
    for (int64_t extent : shape)
      if (extent <= 0)
        return;
    std::vector<int64_t> index(shape.size(), 0);
    while (true) {
      f(index);
      size_t d = shape.size();
      while (d-- > 0 && ++index[d] == shape[d])
        index[d] = 0;
      if (d == size_t(-1))
        return;
    }
  }

  /// x, w and out of these shapes, and what the kernel makes of them.
  std::array<Tensor<float>, 3> convolve(const Convolution &c,
                                        const std::vector<int64_t> &ofX,
                                        const std::vector<int64_t> &ofW,
                                        const std::vector<int64_t> &ofOut) {
    bool isDense = draw(0, 3) > 0;
    auto make = [&](const std::vector<int64_t> &shape) {
      Tensor<float> tensor = makeTensor<float>(shape);
      if (isDense)
        tensor = Tensor<float>(shape);
      for (float &value : tensor.data)
        value = float(draw(-1000, 1000)) / 3;
      return tensor;
    };
    std::array<Tensor<float>, 3> result{make(ofX), make(ofW), make(ofOut)};
    Tensor<float> &x = result[0], &w = result[1], &out = result[2];
    std::vector<Tensor<int64_t>> scalars;
    for (size_t d = 0; d < c.extents.size(); ++d)
      for (int64_t value : {c.low[d], c.stride[d], c.dilation[d]})
        scalars.emplace_back(std::vector<int64_t>{}, std::vector{value});
    std::vector<astra_arg_t> args{w.arg(), x.arg()};
    for (Tensor<int64_t> &scalar : scalars)
      args.push_back(scalar.arg());
    args.push_back(out.arg());
    call.piece = draw(1, 3);
    EXPECT_EQ(call.run("conv_f32", args,
                       {int64_t(scalars.size()), int64_t(1 + c.extents.size())},
                       GetParam()),
              0)
        << call.message;
    return result;
  }

  template <class T> void checkSetOut(const char *name);

  std::mt19937_64 random{7};
  TestCall call;
};

template <class T> void Window::checkSetOut(const char *name) {
  for (int round = 0; round < 200; ++round) {
    size_t spatial = size_t(draw(1, 3)), leading = size_t(draw(0, 2));
    std::vector<int64_t> from, to, low, step;
    for (size_t d = 0; d < leading; ++d) {
      from.push_back(draw(1, 3));
      to.push_back(from.back());
    }
    for (size_t d = 0; d < spatial; ++d) {
      from.push_back(draw(0, 5));
      to.push_back(draw(0, 9));
      low.push_back(draw(-6, 6));
      step.push_back(draw(1, 3));
    }
    Tensor<T> x = makeTensor<T>(from), out = makeTensor<T>(to);
    std::vector<Tensor<int64_t>> scalars;
    for (size_t d = 0; d < spatial; ++d) {
      scalars.emplace_back(std::vector<int64_t>{}, std::vector{low[d]});
      scalars.emplace_back(std::vector<int64_t>{}, std::vector{step[d]});
    }
    std::vector<astra_arg_t> args{x.arg()};
    for (Tensor<int64_t> &scalar : scalars)
      args.push_back(scalar.arg());
    args.push_back(out.arg());
    call.piece = draw(1, 3);
    ASSERT_EQ(call.run(name, args, {int64_t(2 * spatial)}, GetParam()), 0)
        << call.message;
    forEach(to, [&](std::vector<int64_t> index) {
      std::vector<int64_t> source = index;
      bool isThere = true;
      for (size_t d = 0; d < spatial; ++d) {
        int64_t place = index[leading + d] - low[d];
        source[leading + d] = place / step[d];
        isThere &= place >= 0 && place % step[d] == 0 &&
                   place / step[d] < from[leading + d];
      }
      ASSERT_EQ(at(out, index), isThere ? at(x, source) : T(0))
          << "round " << round;
    });
  }
}

TEST_P(Window, SetOutPutsElementsApart) {
  checkSetOut<uint8_t>("set_out_b8");
  checkSetOut<uint16_t>("set_out_b16");
  checkSetOut<float>("set_out_b32");
  checkSetOut<double>("set_out_b64");
}

template <class T> const char *overlapName();
template <> const char *overlapName<float>() { return "overlap_add_f32"; }
template <> const char *overlapName<double>() { return "overlap_add_f64"; }

TEST_P(Window, OverlapAddAddsInAscendingOrder) {
  auto check = [&](auto zero) {
    using T = decltype(zero);
    for (int round = 0; round < 200; ++round) {
      size_t spatial = size_t(draw(1, 2));
      std::vector<int64_t> counts{draw(1, 3)}, windows, sum = counts, stride,
                                                        dilation;
      for (size_t d = 0; d < spatial; ++d) {
        stride.push_back(draw(1, 3));
        dilation.push_back(draw(1, 2));
        counts.push_back(draw(1, 40));
        windows.push_back(draw(1, 4));
        sum.push_back((counts.back() - 1) * stride[d] +
                      (windows[d] - 1) * dilation[d] + 1 + draw(0, 2));
      }
      std::vector<int64_t> shape = counts;
      shape.insert(shape.end(), windows.begin(), windows.end());
      Tensor<T> x = makeTensor<T>(shape), expected(sum), out(sum);
      for (T &value : x.data)
        value /= 3; // so that the order shows
      // Place by place, each element of the sum once for each.
      forEach(windows, [&](const std::vector<int64_t> &place) {
        forEach(counts, [&](const std::vector<int64_t> &window) {
          std::vector<int64_t> source = window, target = window;
          source.insert(source.end(), place.begin(), place.end());
          for (size_t d = 0; d < spatial; ++d)
            target[1 + d] = window[1 + d] * stride[d] + place[d] * dilation[d];
          at(expected, target) += at(x, source);
        });
      });
      Tensor<T> view = out; // the sum as its windows
      view.shape = shape;
      for (size_t d = 0; d < spatial; ++d) {
        view.strides[1 + d] *= stride[d];
        view.strides.push_back(out.strides[1 + d] * dilation[d]);
      }
      call.piece = draw(1, 3);
      ASSERT_EQ(call.run(overlapName<T>(), {x.arg(), view.arg()},
                         {int64_t(spatial)}, GetParam()),
                0);
      ASSERT_EQ(view.data, expected.data) << "round " << round;
    }
  };
  check(float());
  check(double());
}

/// A sum over channel and place, in the order of docs/arithmetic.md.
float sumAt(Tensor<float> &w, Tensor<float> &x, const Convolution &c,
            const std::vector<int64_t> &index) {
  float partial = 0;
  std::vector<float> folds;
  int64_t k = 0;
  auto endChain = [&] {
    if ((k - 1) / 256 % 16 == 0)
      folds.push_back(0);
    folds.back() += partial;
    partial = 0;
  };
  std::vector<int64_t> window{c.channels};
  window.insert(window.end(), c.window.begin(), c.window.end());
  Window::forEach(window, [&](const std::vector<int64_t> &place) {
    std::vector<int64_t> ofW{index[1]}, ofX{index[0], place[0]};
    ofW.insert(ofW.end(), place.begin(), place.end());
    bool inside = true;
    for (size_t d = 0; d < c.extents.size(); ++d) {
      ofX.push_back(index[2 + d] * c.stride[d] + place[1 + d] * c.dilation[d] -
                    c.low[d]);
      inside &= ofX.back() >= 0 && ofX.back() < c.extents[d];
    }
    partial = std::fma(Window::at(w, ofW), inside ? Window::at(x, ofX) : 0.0f,
                       partial);
    if (++k % 256 == 0)
      endChain();
  });
  if (k % 256)
    endChain();
  for (size_t apart = 1; apart < folds.size(); apart *= 2)
    for (size_t i = 0; i + apart < folds.size(); i += 2 * apart)
      folds[i] += folds[i + apart];
  return folds[0];
}

TEST_P(Window, ConvIsTheSumOverChannelAndPlace) {
  for (int round = 0; round < 40; ++round) {
    bool isLarge = draw(0, 2) > 0;
    Convolution c{draw(1, 2),
                  isLarge ? draw(29, 40) : draw(1, 12),
                  isLarge ? 16 * draw(1, 2) - draw(0, 2) : draw(1, 20),
                  {},
                  {},
                  {},
                  {},
                  {},
                  {}};
    std::vector<int64_t> ofX{c.samples, c.channels}, ofW{c.outputs, c.channels},
        ofOut{c.samples, c.outputs};
    for (int64_t d = 0, spatial = draw(1, 2); d < spatial; ++d) {
      bool isLast = d + 1 == spatial;
      c.window.push_back(isLarge ? 3 : draw(1, 4));
      c.stride.push_back(draw(1, 2));
      c.dilation.push_back(draw(1, 2));
      c.low.push_back(draw(-1, 3));
      c.counts.push_back(isLast ? draw(1, 30) : draw(1, 4));
      c.extents.push_back(
          std::max<int64_t>(1, (c.counts[d] - 1) * c.stride[d] + draw(-3, 3)));
      ofX.push_back(c.extents[d]);
      ofW.push_back(c.window[d]);
      ofOut.push_back(c.counts[d]);
    }
    std::array<Tensor<float>, 3> made = convolve(c, ofX, ofW, ofOut);
    Tensor<float> &x = made[0], &w = made[1], &out = made[2];
    forEach(ofOut, [&](const std::vector<int64_t> &index) {
      ASSERT_EQ(at(out, index), sumAt(w, x, c, index)) << "round " << round;
    });
  }
}

/// What the derivative of 3 by 3 weights is: k runs over whole images.
TEST_P(Window, ConvOverImagesIsTheSameSum) {
  for (int round = 0; round < 12; ++round) {
    int64_t images = draw(1, 6), height = draw(4, 40), width = draw(4, 60);
    if (round % 2)
      images += 4096 / (height * width);
    Convolution c{draw(1, 3), images, 32 * draw(1, 2) - draw(0, 8),
                  {},         {},     {},
                  {1, 1},     {1, 1}, {3, 3}};
    c.window = {height, width};
    c.low = {draw(-1, 3), draw(-1, 3)};
    c.extents = {height + draw(-2, 3), width + draw(-2, 3)};
    std::vector<int64_t> ofOut{c.samples, c.outputs, 3, 3};
    std::array<Tensor<float>, 3> made =
        convolve(c, {c.samples, images, c.extents[0], c.extents[1]},
                 {c.outputs, images, height, width}, ofOut);
    Tensor<float> &x = made[0], &w = made[1], &out = made[2];
    for (int i = 0; i < 40; ++i) {
      std::vector<int64_t> index;
      for (int64_t extent : ofOut)
        index.push_back(draw(0, extent - 1));
      ASSERT_EQ(at(out, index), sumAt(w, x, c, index)) << "round " << round;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, Window, ::testing::ValuesIn(allLevels()));

} // namespace
