// The structs of DLPack, the exchange format of tensors in memory, declared as
// its specification lays them out (version 1.1 and the unversioned one before).
// Only their layout is needed here; a program uses DLPack's own header.
#ifndef ASTRA_RUNTIME_DLPACK_H
#define ASTRA_RUNTIME_DLPACK_H

#include <cstdint>

extern "C" {

struct DLDevice {
  int32_t device_type;
  int32_t device_id;
};

struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct DLTensor {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides; // in elements; may be null: row-major
  uint64_t byte_offset;
};

struct DLPackVersion {
  uint32_t major;
  uint32_t minor;
};

struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(DLManagedTensor *self);
};

struct DLManagedTensorVersioned {
  DLPackVersion version;
  void *manager_ctx;
  void (*deleter)(DLManagedTensorVersioned *self);
  uint64_t flags;
  DLTensor dl_tensor;
};

} // extern "C"

namespace astra::dlpack {

constexpr uint32_t major = 1, minor = 1;
constexpr uint64_t readOnly = 1;
constexpr int32_t hostDevice = 1;
enum Code : uint8_t {
  Int = 0,
  UInt = 1,
  Float = 2,
  Bfloat = 4,
  Complex = 5,
  Bool = 6
};

} // namespace astra::dlpack
#endif // ASTRA_RUNTIME_DLPACK_H
