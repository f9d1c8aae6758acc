// Tensors, views and mappings, against values worked out by plain loops.
#include "RuntimeTesting.h"
#include <numeric>

using namespace astra::test;

namespace {

std::vector<float> upTo(int count) {
  std::vector<float> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

class Tensors : public RuntimeTest {
protected:
  astra_borrow_t borrowOf(std::vector<float> &data,
                          const std::vector<int64_t> &shape) {
    astra_borrow_t borrow;
    ASTRA_INIT(BORROW, &borrow);
    borrow.device = cpu;
    borrow.dtype = ASTRA_F32;
    borrow.rank = uint32_t(shape.size());
    borrow.shape = shape.data();
    borrow.buffer = data.data();
    borrow.buffer_bytes = data.size() * sizeof(float);
    return borrow;
  }
};

TEST_F(Tensors, KeepTheirData) {
  astra_tensor_t x = floats({2, 3}, upTo(6));
  EXPECT_EQ(read<float>(x, 6), upTo(6));
  EXPECT_EQ(shapeOf(x), (std::vector<int64_t>{2, 3}));
  int64_t strides[2] = {0, 0};
  uint32_t rank = 0, state = 9;
  ASSERT_OK(astra_tensor_strides(runtime, x, 2, &rank, strides, &error));
  EXPECT_EQ(strides[0], 3);
  EXPECT_EQ(strides[1], 1);
  ASSERT_OK(astra_tensor_strides(runtime, x, 0, &rank, nullptr, &error));
  EXPECT_EQ(rank, 2u);
  ASSERT_OK(astra_tensor_state(runtime, x, &state, &error));
  EXPECT_EQ(state, uint32_t(ASTRA_TENSOR_READY));
  ASSERT_OK(astra_tensor_wait(runtime, x, &error));
}

TEST_F(Tensors, OfRankZeroAndWithoutElements) {
  astra_tensor_t scalar = floats({}, {7});
  EXPECT_EQ(read<float>(scalar, 1), std::vector<float>{7});
  astra_tensor_t none = floats({3, 0, 2}, {});
  EXPECT_EQ(shapeOf(none), (std::vector<int64_t>{3, 0, 2}));
  ASSERT_OK(astra_tensor_read(runtime, none, nullptr, 0, &error));
}

TEST_F(Tensors, RefuseBadArguments) {
  astra_tensor_t x{1};
  int64_t shape[] = {2, 3}, negative[] = {2, -3};
  int64_t large[] = {int64_t(1) << 40, int64_t(1) << 40};
  float data[6] = {};
  auto make = [&](uint32_t dtype, uint32_t rank, const int64_t *extents,
                  const void *from, size_t bytes, astra_error_t **error) {
    return astra_tensor_from_data(runtime, cpu, dtype, rank, extents, from,
                                  bytes, &x, error);
  };
  EXPECT_FAILS(ASTRA_ERROR_COUNT_MISMATCH, "24 bytes, but the buffer has 20",
               make(ASTRA_F32, 2, shape, data, 20, &error));
  EXPECT_EQ(x.bits, 0u);
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "data",
               make(ASTRA_F32, 2, shape, nullptr, 24, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "-3",
               make(ASTRA_F32, 2, negative, data, 24, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "rank 17",
               make(ASTRA_F32, 17, shape, data, 24, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "shape",
               make(ASTRA_F32, 2, nullptr, data, 24, &error));
  EXPECT_FAILS(
      ASTRA_ERROR_INVALID_ARGUMENT, "0x06004001",
      make(ASTRA_DTYPE(ASTRA_CLASS_COMPLEX, 64), 2, shape, data, 48, &error));
  EXPECT_FAILS(ASTRA_ERROR_OVERFLOW, "1099511627776",
               make(ASTRA_F32, 2, large, data, 24, &error));
  uint8_t bad[6] = {0, 1, 0, 2, 0, 0};
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "element 3",
               make(ASTRA_BOOL, 2, shape, bad, 6, &error));
  EXPECT_FAILS(
      ASTRA_ERROR_INVALID_ARGUMENT, "tensor",
      astra_tensor_empty(runtime, cpu, ASTRA_F32, 2, shape, nullptr, &error));
  x = floats({2, 3}, upTo(6));
  EXPECT_FAILS(ASTRA_ERROR_COUNT_MISMATCH, "24",
               astra_tensor_read(runtime, x, data, 23, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "buffer",
               astra_tensor_read(runtime, x, nullptr, 24, &error));
}

TEST_F(Tensors, BorrowWithoutACopyAndGiveBack) {
  std::vector<float> data = upTo(12);
  std::vector<int64_t> shape = {3, 2};
  int64_t strides[] = {-4, 1};
  int released = 0;
  astra_borrow_t borrow = borrowOf(data, shape);
  borrow.strides = strides;
  borrow.offset = 9;
  borrow.context = &released;
  borrow.release = [](void *context, void *) {
    ++*static_cast<int *>(context);
  };
  astra_tensor_t x{0};
  ASSERT_OK(astra_tensor_borrow(runtime, &borrow, &x, &error));
  EXPECT_EQ(read<float>(x, 6), (std::vector<float>{9, 10, 5, 6, 1, 2}));
  // A view keeps the memory.
  astra_tensor_t view{0};
  int64_t starts[] = {1, 0}, extents[] = {1, 2};
  ASSERT_OK(
      astra_tensor_slice(runtime, x, starts, extents, nullptr, &view, &error));
  ASSERT_OK(astra_tensor_release(runtime, x, &error));
  EXPECT_EQ(released, 0);
  EXPECT_EQ(read<float>(view, 2), (std::vector<float>{5, 6}));
  ASSERT_OK(astra_tensor_release(runtime, view, &error));
  EXPECT_EQ(released, 1);
}

TEST_F(Tensors, BorrowNothingOutsideTheBuffer) {
  std::vector<float> data = upTo(12);
  std::vector<int64_t> shape = {3, 2};
  astra_tensor_t x{0};
  int released = 0;
  auto refused = [&](std::vector<int64_t> strides, int64_t offset,
                     astra_error_t **error) {
    astra_borrow_t borrow = borrowOf(data, shape);
    borrow.strides = strides.data();
    borrow.offset = offset;
    borrow.context = &released;
    borrow.release = [](void *context, void *) {
      ++*static_cast<int *>(context);
    };
    return astra_tensor_borrow(runtime, &borrow, &x, error);
  };
  EXPECT_FAILS(ASTRA_ERROR_OUT_OF_RANGE, "12 elements",
               refused({5, 2}, 0, &error));
  EXPECT_FAILS(ASTRA_ERROR_OUT_OF_RANGE, "-1", refused({-4, 1}, 7, &error));
  EXPECT_FAILS(ASTRA_ERROR_OUT_OF_RANGE, "12", refused({0, 0}, 12, &error));
  EXPECT_FAILS(ASTRA_ERROR_OVERFLOW, "64 bits",
               refused({INT64_MAX, 1}, 0, &error));
  astra_borrow_t borrow = borrowOf(data, shape);
  borrow.buffer = reinterpret_cast<char *>(data.data()) + 1;
  borrow.buffer_bytes -= 4;
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "aligned",
               astra_tensor_borrow(runtime, &borrow, &x, &error));
  borrow = borrowOf(data, shape);
  borrow.buffer = nullptr;
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "buffer",
               astra_tensor_borrow(runtime, &borrow, &x, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "astra_borrow_t",
               astra_tensor_borrow(runtime, nullptr, &x, &error));
  EXPECT_EQ(released, 0);
}

TEST_F(Tensors, SliceWithSteps) {
  astra_tensor_t x = floats({4, 5}, upTo(20)), view{0};
  int64_t starts[] = {3, 1}, extents[] = {2, 2}, steps[] = {-2, 3};
  ASSERT_OK(
      astra_tensor_slice(runtime, x, starts, extents, steps, &view, &error));
  EXPECT_EQ(read<float>(view, 4), (std::vector<float>{16, 19, 6, 9}));
  int64_t past[] = {3, 2};
  EXPECT_FAILS(
      ASTRA_ERROR_OUT_OF_RANGE, "leaves its extent, 5",
      astra_tensor_slice(runtime, x, past, extents, steps, &view, &error));
  int64_t far[] = {INT64_MAX, INT64_MAX};
  EXPECT_FAILS(ASTRA_ERROR_OUT_OF_RANGE, "leaves its extent",
               astra_tensor_slice(runtime, x, starts, far, far, &view, &error));
  int64_t none[] = {0, 0}, end[] = {4, 5};
  ASSERT_OK(astra_tensor_slice(runtime, x, end, none, nullptr, &view, &error));
  EXPECT_EQ(shapeOf(view), (std::vector<int64_t>{0, 0}));
  EXPECT_FAILS(
      ASTRA_ERROR_INVALID_ARGUMENT, "starts",
      astra_tensor_slice(runtime, x, nullptr, none, nullptr, &view, &error));
}

TEST_F(Tensors, TransposeAndMakeDense) {
  astra_tensor_t x = floats({2, 3, 2}, upTo(12)), view{0}, dense{0};
  uint32_t order[] = {2, 0, 1}, twice[] = {0, 0, 1}, outside[] = {0, 1, 3};
  ASSERT_OK(astra_tensor_transpose(runtime, x, order, &view, &error));
  std::vector<float> expected;
  for (int k = 0; k < 2; ++k)
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 3; ++j)
        expected.push_back(float((i * 3 + j) * 2 + k));
  EXPECT_EQ(shapeOf(view), (std::vector<int64_t>{2, 2, 3}));
  EXPECT_EQ(read<float>(view, 12), expected);
  ASSERT_OK(astra_tensor_dense(runtime, view, &dense, &error));
  EXPECT_EQ(read<float>(dense, 12), expected);
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "entry 1",
               astra_tensor_transpose(runtime, x, twice, &view, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "entry 2",
               astra_tensor_transpose(runtime, x, outside, &view, &error));
}

TEST_F(Tensors, ReshapeWhereStridesAllow) {
  astra_tensor_t x = floats({2, 3, 4}, upTo(24)), rows{0}, view{0}, odd{0};
  int64_t flat[] = {24}, matrix[] = {4, 6}, wrong[] = {5, 5};
  ASSERT_OK(astra_tensor_reshape(runtime, x, 1, flat, &view, &error));
  EXPECT_EQ(read<float>(view, 24), upTo(24));
  ASSERT_OK(astra_tensor_reshape(runtime, x, 2, matrix, &view, &error));
  EXPECT_FAILS(ASTRA_ERROR_SHAPE_MISMATCH, "24 elements",
               astra_tensor_reshape(runtime, x, 2, wrong, &view, &error));
  // Every second row: the last two axes merge, the first stays apart.
  int64_t starts[] = {0, 0, 0}, extents[] = {2, 1, 4}, inner[] = {2, 2, 2};
  ASSERT_OK(
      astra_tensor_slice(runtime, x, starts, extents, nullptr, &rows, &error));
  ASSERT_OK(astra_tensor_reshape(runtime, rows, 3, inner, &view, &error));
  EXPECT_EQ(read<float>(view, 8),
            (std::vector<float>{0, 1, 2, 3, 12, 13, 14, 15}));
  int64_t eight[] = {8}, ones[] = {1, 2, 1, 4, 1};
  EXPECT_FAILS(ASTRA_ERROR_LAYOUT_MISMATCH, "astra_tensor_dense",
               astra_tensor_reshape(runtime, rows, 1, eight, &odd, &error));
  ASSERT_OK(astra_tensor_reshape(runtime, rows, 5, ones, &view, &error));
  EXPECT_EQ(read<float>(view, 8),
            (std::vector<float>{0, 1, 2, 3, 12, 13, 14, 15}));
}

class Mappings : public RuntimeTest {
protected:
  astra_status_t map(astra_tensor_t x, uint32_t access, uint64_t first,
                     uint64_t count, astra_error_t **error) {
    return astra_tensor_map(runtime, x, {0}, access, first, count, &mapping,
                            &data, &bytes, error);
  }
  astra_mapping_t mapping{0};
  void *data = nullptr;
  size_t bytes = 0;
};

TEST_F(Mappings, ReadARangeOfAnyLayout) {
  astra_tensor_t x = floats({3, 4}, upTo(12)), view{0};
  uint32_t order[] = {1, 0};
  ASSERT_OK(astra_tensor_transpose(runtime, x, order, &view, &error));
  ASSERT_OK(map(view, ASTRA_MAP_READ, 2, 3, &error));
  EXPECT_EQ(bytes, 12u);
  const float *values = static_cast<const float *>(data);
  EXPECT_EQ((std::vector<float>{values[0], values[1], values[2]}),
            (std::vector<float>{8, 1, 5}));
  ASSERT_OK(astra_tensor_release(runtime, view, &error));
  EXPECT_EQ(values[0], 8); // the mapping keeps it
  ASSERT_OK(astra_tensor_unmap(runtime, mapping, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_HANDLE, "released",
               astra_tensor_unmap(runtime, mapping, &error));
  EXPECT_FAILS(ASTRA_ERROR_OUT_OF_RANGE, "12",
               map(x, ASTRA_MAP_READ, 5, 8, &error));
  EXPECT_FAILS(ASTRA_ERROR_OUT_OF_RANGE, "13",
               map(x, ASTRA_MAP_READ, 13, ASTRA_WHOLE, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "access 8",
               map(x, 8, 0, 1, &error));
}

TEST_F(Mappings, WriteOnlyWhatNobodyHasSeen) {
  astra_tensor_t x{0}, view{0};
  int64_t shape[] = {2, 2};
  ASSERT_OK(astra_tensor_empty(runtime, cpu, ASTRA_F32, 2, shape, &x, &error));
  ASSERT_OK(map(x, ASTRA_MAP_WRITE, 0, ASTRA_WHOLE, &error));
  ASSERT_EQ(bytes, 16u);
  for (int i = 0; i < 4; ++i)
    static_cast<float *>(data)[i] = float(i);
  astra_mapping_t first = mapping;
  EXPECT_FAILS(ASTRA_ERROR_BUSY, "already",
               map(x, ASTRA_MAP_WRITE, 0, 1, &error));
  float buffer[4];
  EXPECT_FAILS(ASTRA_ERROR_BUSY, "unmap",
               astra_tensor_read(runtime, x, buffer, 16, &error));
  EXPECT_FAILS(ASTRA_ERROR_BUSY, "unmap",
               astra_tensor_reshape(runtime, x, 2, shape, &view, &error));
  ASSERT_OK(astra_tensor_unmap(runtime, first, &error));
  ASSERT_OK(map(x, ASTRA_MAP_WRITE, 3, 1, &error));
  *static_cast<float *>(data) = 30;
  ASSERT_OK(astra_tensor_unmap(runtime, mapping, &error));
  EXPECT_EQ(read<float>(x, 4), (std::vector<float>{0, 1, 2, 30}));
  EXPECT_FAILS(ASTRA_ERROR_BUSY, "astra_tensor_empty",
               map(x, ASTRA_MAP_WRITE, 0, 1, &error));
  EXPECT_FAILS(ASTRA_ERROR_BUSY, "astra_tensor_empty",
               map(floats({1}, {1}), ASTRA_MAP_WRITE, 0, 1, &error));
}

TEST_F(Mappings, AreForTheHost) {
  astra_device_t null{0};
  ASSERT_OK(astra_device_open(runtime, "null", &null, &error));
  astra_tensor_t x = floats({1}, {1});
  EXPECT_FAILS(ASTRA_ERROR_UNIMPLEMENTED, "\"null\"",
               astra_tensor_map(runtime, x, null, ASTRA_MAP_READ, 0, 1,
                                &mapping, &data, &bytes, &error));
  ASSERT_OK(astra_tensor_map(runtime, x, cpu, ASTRA_MAP_READ, 0, 1, &mapping,
                             &data, &bytes, &error));
}

} // namespace
