// Convolutions as products: x, set out with zeros around and between its
// elements where the convolution asks for any, is seen as windows that overlap
// in memory, and the product kernel sums over channel and place in the window.
// Zeros around f32 alone are the work of a kernel of its own, which sets out a
// piece of x at a time. No patch is ever copied out. The sums of overlapping
// windows see their result so.
#include "dialect/AstraOps.h"
#include "dialect/Window.h"

using namespace mlir;
using namespace astra;

static Dim one() { return Dim::constant(1); }

/// True if x holds every element that the windows name: nothing is before or
/// between its elements, and either the result or the window has the extent
/// that fills x.
static bool readsInside(const Convolution &c, unsigned axis, const Dim &extent,
                        const Dim &window) {
  return c.low[axis].isConstant(0) && c.spread[axis].isConstant(1) &&
         (c.sizes[axis] == getWindowCount(extent, window, c.strides[axis],
                                          c.dilations[axis]) ||
          window == getWindowCount(extent, c.sizes[axis], c.dilations[axis],
                                   c.strides[axis]));
}

/// An extent that no window leaves, and that is not negative where the result
/// or the window is empty.
static Dim getReach(const Convolution &c, unsigned axis, const Dim &window) {
  Dim outer = c.sizes[axis] * c.strides[axis];
  if (window.asConstant().value_or(0) >= 1)
    return outer + (window - one()) * c.dilations[axis];
  if (c.sizes[axis].asConstant().value_or(0) >= 1)
    return outer - c.strides[axis] + window * c.dilations[axis];
  return outer + window * c.dilations[axis];
}

/// x with its elements `spread` apart, `low` zeros before them and zeros
/// behind; x itself where that changes nothing.
static Value setOut(KernelBuilder &builder, const Convolution &c,
                    ArrayRef<Dim> window) {
  Value x = builder.getInput(0);
  SmallVector<Dim> shape = builder.getLayout(x).shape;
  unsigned spatial = c.getSpatialRank(), first = shape.size() - spatial;
  bool inside = true;
  for (unsigned i = 0; i < spatial; ++i) {
    inside &= readsInside(c, i, shape[first + i], window[i]);
    shape[first + i] = getReach(c, i, window[i]);
  }
  if (inside)
    return x;
  SmallVector<Value> inputs{x};
  for (unsigned i = 0; i < spatial; ++i) {
    inputs.push_back(builder.getDimView(c.low[i]));
    inputs.push_back(builder.getDimView(c.spread[i]));
  }
  Type element = typeOf(c.x).getElementType();
  Value result = builder.getTemporary(element, shape);
  builder.call(getWidthKernelName("set_out", element), inputs, {result},
               ArrayRef<int64_t>(2 * spatial));
  return result;
}

/// The last axes as windows: [.., O.., K..] with the axes of `between` after O.
static Layout windowsOf(const Layout &source, ArrayRef<Dim> sizes,
                        ArrayRef<Dim> window, ArrayRef<Dim> strides,
                        ArrayRef<Dim> dilations, unsigned between = 0) {
  unsigned spatial = window.size(), first = source.getRank() - spatial;
  Layout layout;
  layout.offset = source.offset;
  auto add = [&](const Dim &extent, const Dim &stride) {
    layout.shape.push_back(extent);
    layout.strides.push_back(stride);
  };
  for (unsigned axis = 0; axis < first - between; ++axis)
    add(source.shape[axis], source.strides[axis]);
  for (unsigned i = 0; i < spatial; ++i)
    add(sizes[i], strides[i] * source.strides[first + i]);
  for (unsigned axis = first - between; axis < first; ++axis)
    add(source.shape[axis], source.strides[axis]);
  for (unsigned i = 0; i < spatial; ++i)
    add(window[i], dilations[i] * source.strides[first + i]);
  return layout;
}

/// The layout with `count` axes from `axis` on moved to the end.
static Layout withLast(Layout layout, unsigned axis, unsigned count) {
  for (SmallVector<Dim> *list : {&layout.shape, &layout.strides})
    std::rotate(list->begin() + axis, list->begin() + axis + count,
                list->end());
  return layout;
}

/// Does x only need zeros around it, if anything?
static bool isPadded(const Convolution &c, ArrayRef<Dim> window,
                     ArrayRef<Dim> extents) {
  bool inside = true;
  for (unsigned i = 0; i < c.getSpatialRank(); ++i) {
    inside &= readsInside(c, i, extents[i], window[i]);
    if (!c.spread[i].isConstant(1))
      return false;
  }
  return !inside && c.batch == 0;
}

/// The kernel that sets out what it needs of x.
static void callPadded(KernelBuilder &builder, const Convolution &c) {
  SmallVector<Value> inputs{builder.getInput(1), builder.getInput(0)};
  unsigned spatial = c.getSpatialRank();
  for (unsigned i = 0; i < spatial; ++i)
    for (const Dim &number : {c.low[i], c.strides[i], c.dilations[i]})
      inputs.push_back(builder.getDimView(number));
  int64_t params[] = {3 * int64_t(spatial), 1 + int64_t(spatial)};
  builder.call("conv_f32", inputs, {builder.getOutput()},
               ArrayRef<int64_t>(params));
}

/// [batch.., n, O.., c, K..] by [batch.., c, K.., o], or the other way round
/// where the outputs are so few (those of a group for each channel) that they
/// would leave most of a tile's columns empty: products commute, so the bits
/// are the same.
LogicalResult ConvOp::buildKernels(KernelBuilder &builder) {
  Convolution c = Convolution::of(*this);
  SmallVector<Dim> window = getSpatialShape(getW());
  unsigned spatial = c.getSpatialRank();
  constexpr int64_t few = 4;
  Dim outputs = builder.getLayout(builder.getInput(1)).shape[c.batch];
  bool isNarrow = outputs.asConstant().value_or(few + 1) <= few;
  SmallVector<Dim> extents = builder.getLayout(builder.getInput(0)).shape;
  if (!isNarrow && getType().getElementType().isF32() &&
      isPadded(c, window, ArrayRef(extents).take_back(spatial))) {
    callPadded(builder, c);
    return success();
  }
  Value x = setOut(builder, c, window), w = builder.getInput(1),
        out = builder.getOutput();
  Layout windows = windowsOf(builder.getLayout(x), c.sizes, window, c.strides,
                             c.dilations, 1);
  Layout weights = builder.getLayout(w), result = builder.getLayout(out);
  if (isNarrow) {
    windows = withLast(windows, c.batch, 1 + spatial);
    std::swap(result.shape[c.batch], result.shape[c.batch + 1]);
    std::swap(result.strides[c.batch], result.strides[c.batch + 1]);
  } else {
    weights = withLast(weights, c.batch, 1);
    result = withLast(result, c.batch + 1, 1);
  }
  Value left = builder.getView(x, windows), right = builder.getView(w, weights);
  if (isNarrow)
    std::swap(left, right);
  int64_t params[] = {c.batch, int64_t(1 + spatial)};
  builder.call(getKernelName("contract", getType().getElementType()),
               {left, right}, {builder.getView(out, result)},
               ArrayRef<int64_t>(params));
  return success();
}

FailureOr<Layout> WindowsOp::buildView(KernelBuilder &, const Layout &source) {
  SmallVector<Dim> window = getWindow();
  SmallVector<Dim> shape = getTensorType(getResult()).getShape();
  ArrayRef<Dim> sizes =
      ArrayRef(shape).drop_back(window.size()).take_back(window.size());
  return windowsOf(source, sizes, window, getStrides(), getDilations());
}

LogicalResult OverlapAddOp::buildKernels(KernelBuilder &builder) {
  astra::TensorType from = getX().getType();
  Type element = from.getElementType(), wide = element;
  Value x = builder.getInput(0), out = builder.getOutput(), sum = out;
  // f16 and bf16 are summed in f32 and rounded once.
  if (element.getIntOrFloatBitWidth() < 32) {
    wide = Float32Type::get(getContext());
    Value widened = builder.getTemporary(wide, from.getShape());
    builder.call("convert_" + getElementName(element) + "_f32", {x}, {widened},
                 ArrayRef<Attribute>());
    x = widened;
    sum = builder.getTemporary(wide, getType().getShape());
  }
  Layout layout = builder.getLayout(sum);
  Attribute zero = FloatAttr::get(wide, 0.0);
  builder.copy(builder.getSplat(zero, wide, layout.shape), sum);
  SmallVector<Dim> strides = getStrides(), shape = from.getShape();
  unsigned spatial = strides.size();
  ArrayRef<Dim> window = ArrayRef(shape).take_back(spatial),
                sizes = ArrayRef(shape).drop_back(spatial).take_back(spatial);
  Value windows = builder.getView(
      sum, windowsOf(layout, sizes, window, strides, getDilations()));
  builder.call(getKernelName("overlap_add", wide), {x}, {windows},
               ArrayRef<int64_t>(int64_t(spatial)));
  if (sum != out)
    builder.call("convert_f32_" + getElementName(element), {sum}, {out},
                 ArrayRef<Attribute>());
  return success();
}
