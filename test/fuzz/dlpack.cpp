// libFuzzer target: any DLPack struct, of both versions. What is accepted can
// be read where its elements lie inside the buffer, is given away again with
// the same shape and strides, and the deleter is called exactly once.
#include "io/Dlpack.h"
#include "Bytes.h"
#include "Machine.h"

using namespace astra::fuzz;

namespace {

constexpr int64_t bufferBytes = 4096;
alignas(64) char buffer[bufferBytes];

/// A tensor of another library, as the input says.
template <class Managed> struct Foreign {
  explicit Foreign(Bytes &bytes) {
    for (int64_t &extent : shape)
      extent = bytes.number();
    for (int64_t &stride : strides)
      stride = bytes.number();
    DLTensor &tensor = managed.dl_tensor;
    tensor.device = {bytes.oneIn(16) ? bytes.take<int32_t>() : 1, 0};
    tensor.ndim =
        bytes.oneIn(16) ? bytes.take<int32_t>() : int(bytes.below(18));
    constexpr uint8_t widths[] = {8, 16, 32, 64, 1, 4};
    tensor.dtype.code = uint8_t(bytes.below(8));
    tensor.dtype.bits = widths[bytes.below(6)];
    tensor.dtype.lanes = bytes.oneIn(16) ? bytes.take<uint16_t>() : 1;
    tensor.shape = bytes.oneIn(16) ? nullptr : shape;
    tensor.strides = bytes.oneIn(3) ? nullptr : strides;
    tensor.byte_offset =
        bytes.oneIn(16) ? bytes.take<uint64_t>() : bytes.take<uint8_t>() * 8u;
    tensor.data = bytes.oneIn(16) ? nullptr : buffer;
    managed.manager_ctx = this;
    if (!bytes.oneIn(8))
      managed.deleter = [](Managed *self) {
        ++static_cast<Foreign *>(self->manager_ctx)->deleted;
      };
  }

  /// Whether every element lies in the buffer, and they are not too many. Only
  /// this side can know; whoever makes such a struct answers for it.
  bool isHonest() const {
    const DLTensor &tensor = managed.dl_tensor;
    if (tensor.ndim < 0 || tensor.ndim > ASTRA_MAX_RANK ||
        (tensor.ndim && !tensor.shape))
      return false;
    using Wide = __int128;
    Wide count = 1, low = tensor.byte_offset, high = low, dense = 1;
    Wide elementBytes = tensor.dtype.bits / 8;
    for (int axis = tensor.ndim; axis-- > 0;) {
      Wide extent = shape[axis],
           stride = tensor.strides ? strides[axis] : dense;
      if (extent <= 0)
        return true;
      count *= extent;
      if (count > bufferBytes)
        return false;
      (stride < 0 ? low : high) += (extent - 1) * stride * elementBytes;
      dense *= extent;
    }
    return low >= 0 && high + elementBytes <= bufferBytes;
  }

  Managed managed{};
  int64_t shape[ASTRA_MAX_RANK + 2], strides[ASTRA_MAX_RANK + 2];
  int deleted = 0;
};

template <class Managed>
void giveBack(const Machine &machine, astra_tensor_t tensor,
              const DLTensor &before,
              astra_status_t (*give)(astra_runtime_t *, astra_tensor_t,
                                     Managed **, astra_error_t **)) {
  Managed *managed = nullptr;
  mustWork(give, machine.runtime, tensor, &managed);
  const DLTensor &after = managed->dl_tensor;
  demand(after.ndim == before.ndim, "the rank is the same");
  for (int axis = 0; axis < after.ndim; ++axis)
    demand(after.shape[axis] == before.shape[axis], "the shape is the same");
  managed->deleter(managed);
}

template <class Managed>
void run(const Machine &machine, Foreign<Managed> &foreign,
         astra_status_t (*take)(astra_runtime_t *, astra_device_t, Managed *,
                                astra_tensor_t *, astra_error_t **),
         astra_status_t (*give)(astra_runtime_t *, astra_tensor_t, Managed **,
                                astra_error_t **)) {
  const DLTensor &from = foreign.managed.dl_tensor;
  bool isHonest = foreign.isHonest();
  if (from.dtype.code == astra::dlpack::Bool && !isHonest)
    return; // bools are looked at
  astra_tensor_t tensor{0};
  astra_status_t status =
      attempt(take, machine.runtime, machine.cpu, &foreign.managed, &tensor);
  if (status == ASTRA_OK) {
    if (isHonest)
      readAll(machine, tensor);
    giveBack(machine, tensor, from, give);
    demand(foreign.deleted == 0, "it is not deleted while it is used");
    mustWork(astra_tensor_release, machine.runtime, tensor);
  }
  demand(foreign.deleted == (status == ASTRA_OK && foreign.managed.deleter),
         "it is deleted once if it was taken");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static Machine machine;
  Bytes bytes(data, size);
  if (bytes.below(2)) {
    Foreign<DLManagedTensor> foreign(bytes);
    run(machine, foreign, astra_tensor_from_dlpack_legacy,
        astra_tensor_to_dlpack_legacy);
  } else {
    uint32_t version = bytes.oneIn(16) ? bytes.take<uint32_t>() : 1;
    Foreign<DLManagedTensorVersioned> foreign(bytes);
    foreign.managed.version = {version, bytes.take<uint8_t>()};
    foreign.managed.flags = bytes.take<uint8_t>();
    run(machine, foreign, astra_tensor_from_dlpack, astra_tensor_to_dlpack);
  }
  machine.demandEmpty();
  return 0;
}
