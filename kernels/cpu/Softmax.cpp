// softmax and log_softmax along one axis, in three passes over each line: the
// largest element, the canonical sum of the exponentials, the results.
#include "kernels/cpu/Extreme.h"

using namespace astra;

namespace {

template <class T> class SoftmaxLine {
public:
  using C = Compute<T>;

  SoftmaxLine(const T *x, const Nest<1> &nest, T *out, int64_t stride)
      : reader(x, nest), n(nest.size()), out(out), stride(stride) {
    largest = extremeOfLine<true>(reader, n);
  }

  void softmax() {
    if (masked())
      return fill(C(0));
    // Exponentials that fit in one chunk stay in the buffer.
    C sum = sumOfExponentials();
    eachChunk([&](int64_t at, int64_t size) {
      if (n > chunkSize)
        exponentials(at, size);
      ASTRA_VECTOR_LOOP
      for (int64_t i = 0; i < size; ++i)
        buffer[i] = buffer[i] / sum;
      storeRun(buffer, size, out + at * stride, stride);
    });
  }

  void logSoftmax() {
    if (masked())
      return fill(largest);
    C logSum = math::log(sumOfExponentials());
    eachChunk([&](int64_t at, int64_t size) {
      const C *x = reader.read(at, size, buffer);
      ASTRA_VECTOR_LOOP
      for (int64_t i = 0; i < size; ++i)
        buffer[i] = (x[i] - largest) - logSum;
      storeRun(buffer, size, out + at * stride, stride);
    });
  }

private:
  bool masked() const { return largest == -std::numeric_limits<C>::infinity(); }

  template <class F> void eachChunk(F f) {
    for (int64_t at = 0; at < n; at += chunkSize)
      f(at, n - at < chunkSize ? n - at : chunkSize);
  }

  void exponentials(int64_t at, int64_t size) {
    const C *x = reader.read(at, size, buffer);
    C m = largest;
    ASTRA_VECTOR_LOOP
    for (int64_t i = 0; i < size; ++i)
      buffer[i] = math::exp(x[i] - m);
  }

  C sumOfExponentials() {
    PairTree<C, Plus> tree;
    eachChunk([&](int64_t at, int64_t size) {
      exponentials(at, size);
      tree.add(foldChunk<Plus>(buffer, size));
    });
    return tree.result();
  }

  void fill(C value) {
    for (int64_t i = 0; i < n; ++i)
      out[i * stride] = narrow<T>(value);
  }

  LineReader<T> reader;
  int64_t n;
  T *out;
  int64_t stride;
  C largest;
  alignas(64) C buffer[chunkSize];
};

template <class T, class F>
astra_outcome_t lines(const astra_call_t *call, const astra_arg_t *args,
                      int64_t axis, F finish) {
  Lines l = linesOf(args[0], args[1], axis);
  if (l.extent == 0)
    return ASTRA_OK;
  Nest<1> line;
  line.addAxis(l.extent, {l.strideIn});
  const T *x = static_cast<const T *>(args[0].data);
  T *out = static_cast<T *>(args[1].data);
  int64_t grain = elementGrain / 8 / (l.extent + 16) + 1;
  parallelFor(call, l.starts.size(), grain, [&](int64_t begin, int64_t end) {
    l.starts.visit(begin, end, [&](const int64_t (&offset)[2], int64_t count) {
      for (int64_t i = 0; i < count; ++i) {
        SoftmaxLine<T> row(x + offset[0] + i * l.starts.innerStride(0), line,
                           out + offset[1] + i * l.starts.innerStride(1),
                           l.strideOut);
        finish(row);
      }
      return true;
    });
  });
  return ASTRA_OK;
}

template <class T>
astra_outcome_t softmax(const astra_call_t *call, const astra_arg_t *args,
                        int64_t axis) {
  return lines<T>(call, args, axis, [](SoftmaxLine<T> &l) { l.softmax(); });
}

template <class T>
astra_outcome_t logSoftmax(const astra_call_t *call, const astra_arg_t *args,
                           int64_t axis) {
  return lines<T>(call, args, axis, [](SoftmaxLine<T> &l) { l.logSoftmax(); });
}

} // namespace

// The rows with a variant are the FLOATS at the end of kernels.def.
#define FOR_FLOAT(dtype)                                                       \
  ASTRA_DEFINE_VARIANT(softmax, dtype, rows,                                   \
                       softmax<T_##dtype>(call, args, params[0]))              \
  ASTRA_DEFINE_VARIANT(log_softmax, dtype, rows,                               \
                       logSoftmax<T_##dtype>(call, args, params[0]))
FOR_FLOAT(f32)
FOR_FLOAT(f64)
FOR_FLOAT(f16)
FOR_FLOAT(bf16)
