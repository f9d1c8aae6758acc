// Writing into parts of one buffer: slices checked to be disjoint against a
// count of each element, parts written by mappings, calls and copies in several
// streams at once, results in given memory, and donated memory used again.
#include "RuntimeTesting.h"
#include <random>
#include <thread>

using namespace astra::test;

namespace {

astra_value_t of(astra_tensor_t tensor) {
  return astra_value_of_tensor(tensor);
}

class Parts : public RuntimeTest {
protected:
  void *addressOf(astra_tensor_t of) {
    astra_mapping_t mapping{0};
    void *data = nullptr;
    size_t bytes = 0;
    EXPECT_EQ(astra_tensor_map(runtime, of, {0}, ASTRA_MAP_READ, 0, ASTRA_WHOLE,
                               &mapping, &data, &bytes, nullptr),
              ASTRA_OK);
    EXPECT_EQ(astra_tensor_unmap(runtime, mapping, nullptr), ASTRA_OK);
    return data;
  }
  std::vector<astra_tensor_t> parts;
};

TEST_F(Parts, AreWrittenInSeveralStreamsAtOnce) {
  astra_tensor_t whole = empty({4, 3});
  // Rows 0 and 1 by work of two streams, row 2 by hand, row 3 not at all.
  ASSERT_OK(
      split(whole, {0, 0, 1, 0, 2, 0}, {1, 3, 1, 3, 1, 3}, 3, parts, &error));
  int64_t three = 3;
  astra_stream_t a = makeStream(ASTRA_STREAM_MANUAL),
                 b = makeStream(ASTRA_STREAM_MANUAL);
  astra_tensor_t out[2];
  for (int i = 0; i < 2; ++i) {
    // A part has rank 2; the function wants rank 1.
    EXPECT_FAILS(
        ASTRA_ERROR_SHAPE_MISMATCH, "has shape [1, 3], but [3]",
        twiceInto(a, floats({3}, {1, 2, 3}), parts[size_t(i)], out, &error));
    astra_tensor_t x = floats({1, 3}, {float(i), 1, 2});
    ASSERT_OK(astra_tensor_copy(runtime, i ? a : b, x, parts[size_t(i)],
                                &out[i], &error));
    EXPECT_FAILS(ASTRA_ERROR_INVALID_HANDLE, "released",
                 astra_tensor_release(runtime, parts[size_t(i)], &error));
  }
  EXPECT_FAILS(ASTRA_ERROR_BUSY, "1 part of the tensor may still be written",
               astra_tensor_wait(runtime, whole, &error));
  astra_mapping_t mapping{0};
  void *data = nullptr;
  size_t bytes = 0;
  ASSERT_OK(astra_tensor_map(runtime, parts[2], {0}, ASTRA_MAP_WRITE, 0,
                             ASTRA_WHOLE, &mapping, &data, &bytes, &error));
  ASSERT_EQ(bytes, 12u);
  std::fill_n(static_cast<float *>(data), 3, 9.0f);
  ASSERT_OK(astra_tensor_unmap(runtime, mapping, &error));
  ASSERT_OK(astra_tensor_release(runtime, parts[2], &error));
  uint32_t state = 9;
  ASSERT_OK(astra_tensor_state(runtime, whole, &state, &error));
  EXPECT_EQ(state, uint32_t(ASTRA_TENSOR_PENDING));
  // A call that reads the whole waits for both streams.
  astra_tensor_t rows{0}, flat{0};
  int64_t starts[] = {0, 0}, extents[] = {3, 3}, nine = 9;
  ASSERT_OK(astra_tensor_slice(runtime, whole, starts, extents, nullptr, &rows,
                               &error));
  ASSERT_OK(astra_tensor_reshape(runtime, rows, 1, &nine, &flat, &error));
  astra_value_t in = of(flat);
  astra_tensor_t doubled{0};
  ASSERT_OK(astra_function_call(runtime, function("twice"), stream, nullptr,
                                &in, 1, &doubled, 1, &error));
  EXPECT_EQ(read<float>(doubled, 9),
            (std::vector<float>{0, 2, 4, 2, 2, 4, 18, 18, 18}));
  EXPECT_EQ(read<float>(out[1], 3), (std::vector<float>{1, 1, 2}));
  (void)three;
}

TEST_F(Parts, FailAsTheWorkThatWritesThemDoes) {
  astra_tensor_t whole = empty({4});
  ASSERT_OK(split(whole, {0, 2}, {2, 2}, 2, parts, &error));
  astra_stream_t queue = makeStream(ASTRA_STREAM_MANUAL);
  astra_tensor_t out[2];
  astra_tensor_t x = floats({2}, {1, 2});
  ASSERT_OK(twiceInto(queue, x, parts[0], &out[0], &error));
  ASSERT_OK(twiceInto(stream, x, parts[1], &out[1], &error));
  ASSERT_OK(astra_stream_cancel(runtime, queue, &error));
  EXPECT_FAILS(ASTRA_ERROR_CANCELLED, "cancelled",
               astra_tensor_wait(runtime, whole, &error));
  int code = 0;
  ASSERT_OK(astra_tensor_callback(
      runtime, whole,
      [](void *context, astra_status_t status, const astra_error_t *) {
        *static_cast<int *>(context) = status;
      },
      &code, &error));
  EXPECT_EQ(code, ASTRA_ERROR_CANCELLED);
  EXPECT_EQ(read<float>(out[1], 2), (std::vector<float>{2, 4}));
}

TEST_F(Parts, AreChecked) {
  astra_tensor_t whole = empty({4, 6});
  EXPECT_FAILS(
      ASTRA_ERROR_INVALID_ARGUMENT,
      "parts 0 [0..2, 0..6] and 2 [1..2, 5..6] overlap",
      split(whole, {0, 0, 2, 0, 1, 5}, {2, 6, 2, 6, 1, 1}, 3, parts, &error));
  EXPECT_FAILS(ASTRA_ERROR_OUT_OF_RANGE, "part 1: the slice of 3",
               split(whole, {0, 0, 2, 0}, {2, 6, 3, 6}, 2, parts, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "step 0 on axis 1",
               split(whole, {0, 0}, {2, 2}, 1, parts, &error, {1, 0}));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "1 to 4096 parts, not 0",
               split(whole, {}, {}, 0, parts, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "starts",
               astra_tensor_partition(runtime, whole, 1, nullptr, nullptr,
                                      nullptr, parts.data(), &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "parts",
               astra_tensor_partition(runtime, whole, 1, nullptr, nullptr,
                                      nullptr, nullptr, &error));
  EXPECT_FAILS(ASTRA_ERROR_BUSY, "only one from astra_tensor_empty",
               split(floats({2}, {1, 2}), {0}, {1}, 1, parts, &error));
  // Odd and even columns, which are not dense.
  ASSERT_OK(split(whole, {0, 0, 0, 5}, {4, 3, 4, 3}, 2, parts, &error,
                  {1, 2, 1, -2}));
  std::vector<astra_tensor_t> again;
  EXPECT_FAILS(ASTRA_ERROR_BUSY, "a part already",
               split(parts[0], {0, 0}, {1, 1}, 1, again, &error));
  EXPECT_FAILS(ASTRA_ERROR_BUSY, "2 parts of the tensor may still be written",
               astra_tensor_read(runtime, whole, nullptr, 96, &error));
  astra_mapping_t mapping{0};
  void *data = nullptr;
  size_t bytes = 0;
  EXPECT_FAILS(ASTRA_ERROR_LAYOUT_MISMATCH, "not dense",
               astra_tensor_map(runtime, parts[0], {0}, ASTRA_MAP_WRITE, 0,
                                ASTRA_WHOLE, &mapping, &data, &bytes, &error));
  astra_tensor_t ones = floats({4, 3}, std::vector<float>(12, 1));
  astra_tensor_t twos = floats({4, 3}, std::vector<float>(12, 2)), out{0};
  ASSERT_OK(astra_tensor_copy(runtime, stream, ones, parts[0], &out, &error));
  ASSERT_OK(astra_tensor_copy(runtime, stream, twos, parts[1], &out, &error));
  std::vector<float> expected;
  for (int i = 0; i < 24; ++i)
    expected.push_back(i % 2 ? 2 : 1);
  EXPECT_EQ(read<float>(whole, 24), expected);
}

TEST_F(Parts, AreDisjointJustWhenNoElementIsCountedTwice) {
  std::mt19937 random(7);
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  int overlapping = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<int64_t> starts, extents, steps, counts(12 * 12, 0);
    size_t parts = size_t(pick(1, 3));
    for (size_t i = 0; i < parts * 2; ++i) {
      int64_t step = pick(1, 5), extent = pick(0, 12 / step);
      int64_t reach = extent ? (extent - 1) * step : 0;
      int64_t start = pick(0, 11 - reach);
      bool down = pick(0, 1);
      starts.push_back(down ? start + reach : start);
      extents.push_back(extent);
      steps.push_back(down ? -step : step);
    }
    bool twice = false;
    for (size_t i = 0; i < parts; ++i)
      for (int64_t row = 0; row < extents[2 * i]; ++row)
        for (int64_t column = 0; column < extents[2 * i + 1]; ++column)
          twice |=
              ++counts[size_t((starts[2 * i] + row * steps[2 * i]) * 12 +
                              starts[2 * i + 1] + column * steps[2 * i + 1])] >
              1;
    astra_tensor_t whole = empty({12, 12});
    std::vector<astra_tensor_t> made;
    ASSERT_EQ(split(whole, starts, extents, parts, made, nullptr, steps),
              twice ? ASTRA_ERROR_INVALID_ARGUMENT : ASTRA_OK);
    overlapping += twice;
    for (astra_tensor_t part : made)
      astra_tensor_release(runtime, part, nullptr);
    ASSERT_OK(astra_tensor_release(runtime, whole, &error));
  }
  EXPECT_GT(overlapping, 300);
  EXPECT_LT(overlapping, 2700);
}

TEST_F(Parts, OrAWholeTensorTakeResults) {
  astra_tensor_t x = floats({3}, {1, 2, 3}), target = empty({3}), out{0};
  ASSERT_OK(twiceInto(stream, x, target, &out, &error));
  EXPECT_EQ(read<float>(out, 3), (std::vector<float>{2, 4, 6}));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_HANDLE, "released",
               twiceInto(stream, x, target, &out, &error));
  EXPECT_FAILS(ASTRA_ERROR_BUSY, "cannot be written",
               twiceInto(stream, x, floats({3}, {0, 0, 0}), &out, &error));
  EXPECT_FAILS(ASTRA_ERROR_SHAPE_MISMATCH, "has shape [4], but [3]",
               twiceInto(stream, x, empty({4}), &out, &error));
  ASSERT_OK(twiceInto(stream, x, {0}, &out, &error)); // none for this output
  astra_call_options_t options;
  ASTRA_INIT(CALL_OPTIONS, &options);
  options.target_count = 3;
  astra_value_t in = of(x);
  EXPECT_FAILS(ASTRA_ERROR_COUNT_MISMATCH, "1 outputs, but there are 3 targets",
               astra_function_call(runtime, function("twice"), stream, &options,
                                   &in, 1, &out, 1, &error));
  options.target_count = 1;
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "targets",
               astra_function_call(runtime, function("twice"), stream, &options,
                                   &in, 1, &out, 1, &error));
  EXPECT_FAILS(ASTRA_ERROR_DTYPE_MISMATCH, "i32 cannot be copied",
               astra_tensor_copy(runtime, stream,
                                 tensor<int32_t>(ASTRA_I32, {1}, {1}),
                                 empty({1}), &out, &error));
  EXPECT_FAILS(ASTRA_ERROR_SHAPE_MISMATCH,
               "shape [3] cannot be copied into one of",
               astra_tensor_copy(runtime, stream, x, empty({1}), &out, &error));
  EXPECT_FAILS(ASTRA_ERROR_BUSY, "cannot be written",
               astra_tensor_copy(runtime, stream, x, x, &out, &error));
}

class Donations : public Parts {};

TEST_F(Donations, AreUsedAgainAtOnceWhereTheFunctionAllowsIt) {
  astra_tensor_t x = floats({4}, {1, 2, 3, 4}), out{0};
  void *memory = addressOf(x);
  astra_value_t in = of(x);
  in.flags = ASTRA_VALUE_DONATE;
  ASSERT_OK(astra_function_call(runtime, function("twice"), stream, nullptr,
                                &in, 1, &out, 1, &error));
  EXPECT_EQ(addressOf(out), memory);
  EXPECT_EQ(read<float>(out, 4), (std::vector<float>{2, 4, 6, 8}));
  // Not without being donated.
  in = of(out);
  astra_tensor_t next{0};
  ASSERT_OK(astra_function_call(runtime, function("twice"), stream, nullptr,
                                &in, 1, &next, 1, &error));
  EXPECT_NE(addressOf(next), memory);
  EXPECT_EQ(read<float>(out, 4), (std::vector<float>{2, 4, 6, 8}));
}

TEST_F(Donations, AreUsedWhereTheDescriptorPairsThem) {
  // `add` may write over its second input, not over its first.
  for (size_t donated : {0u, 1u}) {
    astra_tensor_t x[] = {floats({4}, {1, 2, 3, 4}), floats({4}, {8, 7, 6, 5})};
    void *memory = addressOf(x[donated]);
    astra_value_t in[] = {of(x[0]), of(x[1])};
    in[donated].flags = ASTRA_VALUE_DONATE;
    astra_tensor_t out{0};
    ASSERT_OK(astra_function_call(runtime, function("add"), stream, nullptr, in,
                                  2, &out, 1, &error));
    EXPECT_EQ(read<float>(out, 4), (std::vector<float>{9, 9, 9, 9}));
    EXPECT_EQ(addressOf(out) == memory, donated == 1);
  }
}

TEST_F(Donations, AreAllowedWhileEarlierWorkStillReadsThem) {
  astra_stream_t queue = makeStream(ASTRA_STREAM_MANUAL);
  astra_tensor_t x = floats({4}, {1, 2, 3, 4}), first{0}, second{0};
  astra_value_t in = of(x);
  ASSERT_OK(astra_function_call(runtime, function("twice"), queue, nullptr, &in,
                                1, &first, 1, &error));
  in.flags = ASTRA_VALUE_DONATE;
  ASSERT_OK(astra_function_call(runtime, function("twice"), stream, nullptr,
                                &in, 1, &second, 1, &error));
  EXPECT_EQ(read<float>(second, 4), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(read<float>(first, 4), (std::vector<float>{2, 4, 6, 8}));
}

TEST_F(Donations, NeedMemoryThatNobodyElseSees) {
  astra_tensor_t x = floats({4}, {1, 2, 3, 4}), out{0};
  astra_mapping_t mapping{0};
  void *data = nullptr;
  size_t bytes = 0;
  ASSERT_OK(astra_tensor_map(runtime, x, {0}, ASTRA_MAP_READ, 0, ASTRA_WHOLE,
                             &mapping, &data, &bytes, &error));
  astra_value_t in = of(x);
  in.flags = ASTRA_VALUE_DONATE;
  EXPECT_FAILS(ASTRA_ERROR_DONATION, "mapping shares it",
               astra_function_call(runtime, function("twice"), stream, nullptr,
                                   &in, 1, &out, 1, &error));
  ASSERT_OK(astra_tensor_unmap(runtime, mapping, &error));
  ASSERT_OK(astra_function_call(runtime, function("twice"), stream, nullptr,
                                &in, 1, &out, 1, &error));
}

} // namespace
