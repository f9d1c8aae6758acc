// DLPack in and out: layouts, both versions, who frees what, and refusals. The
// structs are laid out as the specification says, which is checked too.
#include "runtime/io/Dlpack.h"
#include "RuntimeTesting.h"
#include <cstddef>
#include <utility>

using namespace astra::test;

namespace {

static_assert(sizeof(DLTensor) == 48 && offsetof(DLTensor, shape) == 24, "");
static_assert(offsetof(DLTensor, byte_offset) == 40, "");
static_assert(sizeof(DLManagedTensor) == 64, "");
static_assert(offsetof(DLManagedTensorVersioned, dl_tensor) == 32, "");

class Dlpack : public RuntimeTest {
protected:
  /// A tensor of floats in the test's hands.
  struct Theirs {
    DLManagedTensorVersioned managed{};
    std::vector<int64_t> shape, strides;
    int deleted = 0;

    Theirs(void *data, std::vector<int64_t> extents,
           std::vector<int64_t> steps = {})
        : shape(std::move(extents)), strides(std::move(steps)) {
      managed.version = {1, 0};
      managed.manager_ctx = this;
      managed.deleter = [](DLManagedTensorVersioned *self) {
        ++static_cast<Theirs *>(self->manager_ctx)->deleted;
      };
      managed.dl_tensor = {
          data,       {1, 0},       int32_t(shape.size()),
          {2, 32, 1}, shape.data(), strides.empty() ? nullptr : strides.data(),
          0};
    }
  };
  astra_status_t take(Theirs &theirs, astra_tensor_t *made,
                      astra_error_t **error) {
    return astra_tensor_from_dlpack(runtime, cpu, &theirs.managed, made, error);
  }
};

TEST_F(Dlpack, GivesTensorsAway) {
  astra_tensor_t x = floats({2, 3}, {0, 1, 2, 3, 4, 5}), view{0};
  uint32_t order[] = {1, 0};
  ASSERT_OK(astra_tensor_transpose(runtime, x, order, &view, &error));
  DLManagedTensorVersioned *managed = nullptr;
  ASSERT_OK(astra_tensor_to_dlpack(runtime, view, &managed, &error));
  ASSERT_OK(astra_tensor_release(runtime, view, &error));
  ASSERT_OK(astra_tensor_release(runtime, x, &error)); // kept by the other side
  EXPECT_EQ(managed->version.major, 1u);
  EXPECT_EQ(managed->flags, 1u);
  const DLTensor &seen = managed->dl_tensor;
  EXPECT_EQ(seen.device.device_type, 1);
  EXPECT_EQ(seen.dtype.code, 2);
  EXPECT_EQ(seen.dtype.bits, 32);
  ASSERT_EQ(seen.ndim, 2);
  EXPECT_EQ(seen.shape[0], 3);
  EXPECT_EQ(seen.strides[0], 1);
  EXPECT_EQ(seen.strides[1], 3);
  EXPECT_EQ(static_cast<float *>(seen.data)[5], 5.0f);
  managed->deleter(managed);
  astra_memory_info_t info;
  ASTRA_INIT(MEMORY_INFO, &info);
  ASSERT_OK(astra_runtime_memory(runtime, &info, &error));
  EXPECT_EQ(info.live_bytes, 0u);
}

TEST_F(Dlpack, GivesAndTakesWithoutVersion) {
  astra_tensor_t x = tensor<uint8_t>(ASTRA_BOOL, {2}, {1, 0}), back{0};
  DLManagedTensor *managed = nullptr;
  ASSERT_OK(astra_tensor_to_dlpack_legacy(runtime, x, &managed, &error));
  EXPECT_EQ(managed->dl_tensor.dtype.code, 6);
  ASSERT_OK(
      astra_tensor_from_dlpack_legacy(runtime, cpu, managed, &back, &error));
  ASSERT_OK(astra_tensor_release(runtime, x, &error));
  EXPECT_EQ(read<uint8_t>(back, 2), (std::vector<uint8_t>{1, 0}));
  ASSERT_OK(astra_tensor_release(runtime, back, &error));
}

TEST_F(Dlpack, TakesAnyLayout) {
  float data[] = {0, 1, 2, 3, 4, 5};
  astra_tensor_t made{0};
  Theirs rows(data, {2, 3}); // no strides: row-major
  ASSERT_OK(take(rows, &made, &error));
  EXPECT_EQ(read<float>(made, 6), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  ASSERT_OK(astra_tensor_release(runtime, made, &error));
  EXPECT_EQ(rows.deleted, 1);
  Theirs back(data + 5, {3}, {-2});
  ASSERT_OK(take(back, &made, &error));
  EXPECT_EQ(read<float>(made, 3), (std::vector<float>{5, 3, 1}));
  Theirs moved(data, {2});
  moved.managed.dl_tensor.byte_offset = 8;
  ASSERT_OK(take(moved, &made, &error));
  EXPECT_EQ(read<float>(made, 2), (std::vector<float>{2, 3}));
  // Strides of axes with one element mean nothing, nor those of no elements.
  int64_t odd = INT64_MIN;
  Theirs single(data, {1, 2, 1}, {odd, 1, odd});
  ASSERT_OK(take(single, &made, &error));
  int64_t two = 2;
  astra_tensor_t flat{0};
  ASSERT_OK(astra_tensor_reshape(runtime, made, 1, &two, &flat, &error));
  EXPECT_EQ(read<float>(flat, 2), (std::vector<float>{0, 1}));
  Theirs none(nullptr, {1, 8, 0, 128}, {odd, 7, 3, odd});
  ASSERT_OK(take(none, &made, &error));
  EXPECT_EQ(shapeOf(made), (std::vector<int64_t>{1, 8, 0, 128}));
  int64_t other[] = {0, 5};
  ASSERT_OK(astra_tensor_reshape(runtime, made, 2, other, &flat, &error));
  // The tensors that are left go while what they are made of is there.
  astra_runtime_destroy(std::exchange(runtime, nullptr));
  for (const Theirs *each : {&back, &moved, &single, &none})
    EXPECT_EQ(each->deleted, 1);
}

TEST_F(Dlpack, RefusesWhatItCannotTake) {
  float data[4] = {};
  astra_tensor_t made{0};
  Theirs version(data, {4});
  version.managed.version = {2, 0};
  EXPECT_FAILS(ASTRA_ERROR_UNSUPPORTED_VERSION, "version 2.0",
               take(version, &made, &error));
  Theirs device(data, {4});
  device.managed.dl_tensor.device.device_type = 2;
  EXPECT_FAILS(ASTRA_ERROR_DEVICE_MISMATCH, "type 2",
               take(device, &made, &error));
  Theirs dtype(data, {4});
  dtype.managed.dl_tensor.dtype = {2, 32, 4};
  EXPECT_FAILS(ASTRA_ERROR_UNIMPLEMENTED, "4 lanes",
               take(dtype, &made, &error));
  dtype.managed.dl_tensor.dtype = {5, 64, 1};
  EXPECT_FAILS(ASTRA_ERROR_UNIMPLEMENTED, "code 5", take(dtype, &made, &error));
  Theirs aligned(data, {1});
  aligned.managed.dl_tensor.byte_offset = 2;
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "not aligned",
               take(aligned, &made, &error));
  Theirs negative(data, {-1});
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "extent of axis 0 is -1",
               take(negative, &made, &error));
  Theirs wide(data, {3, 3}, {INT64_MAX / 2, INT64_MAX / 2});
  EXPECT_FAILS(ASTRA_ERROR_OVERFLOW, "leaves 64 bits",
               take(wide, &made, &error));
  Theirs beyond(data, {3}, {INT64_MAX / 8 - 1});
  beyond.managed.dl_tensor.byte_offset = UINT64_MAX / 2 - 3;
  EXPECT_FAILS(ASTRA_ERROR_OVERFLOW, "leaves the addresses",
               take(beyond, &made, &error));
  Theirs before(data, {3}, {-INT64_MAX / 16});
  EXPECT_FAILS(ASTRA_ERROR_OVERFLOW, "leaves the addresses",
               take(before, &made, &error));
  Theirs around(data, {3});
  around.managed.dl_tensor.byte_offset = UINT64_MAX - 7;
  EXPECT_FAILS(ASTRA_ERROR_OVERFLOW, "leaves the addresses",
               take(around, &made, &error));
  Theirs null(nullptr, {4});
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "data", take(null, &made, &error));
  Theirs ndim(data, {4});
  ndim.managed.dl_tensor.ndim = -3;
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "ndim -3",
               take(ndim, &made, &error));
  ndim.managed.dl_tensor.ndim = 17;
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "rank 17",
               take(ndim, &made, &error));
  uint8_t bad[] = {1, 2};
  Theirs bools(bad, {2});
  bools.managed.dl_tensor.dtype = {6, 8, 1};
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "element 1 of a bool tensor is 2",
               take(bools, &made, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "managed",
               astra_tensor_from_dlpack(runtime, cpu, nullptr, &made, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "managed",
               astra_tensor_to_dlpack(runtime, {1}, nullptr, &error));
  EXPECT_EQ(version.deleted + device.deleted + dtype.deleted + null.deleted, 0);
  EXPECT_EQ(made.bits, 0u);
}

} // namespace
