// Tensors given to and taken from other libraries without copies, through
// DLPack. What is given away keeps its storage until the other side is done;
// what is taken keeps the other side's tensor until the last use here.
#include "io/Dlpack.h"
#include "core/Dtype.h"
#include "core/HostCopy.h"
#include "core/Tensor.h"

using namespace astra;

namespace {

/// dtype classes and DLPack's codes.
constexpr struct {
  uint32_t dtypeClass;
  uint8_t code;
} classes[] = {{ASTRA_CLASS_BOOL, dlpack::Bool},
               {ASTRA_CLASS_INT, dlpack::Int},
               {ASTRA_CLASS_UINT, dlpack::UInt},
               {ASTRA_CLASS_FLOAT, dlpack::Float},
               {ASTRA_CLASS_BFLOAT, dlpack::Bfloat}};

DLDataType toDlpack(uint32_t dtype) {
  DLDataType type = {0, uint8_t(dtype >> 8), 1};
  for (const auto &row : classes) {
    if (row.dtypeClass == dtype >> 24)
      type.code = row.code;
  }
  return type;
}

Status fromDlpack(const DLDataType &type, const DtypeInfo *&row) {
  for (const auto &each : classes) {
    if (each.code == type.code && type.lanes == 1)
      row = findDtype(ASTRA_DTYPE(each.dtypeClass, type.bits));
    if (row)
      return {};
  }
  return fail(ASTRA_ERROR_UNIMPLEMENTED, "a DLPack tensor of ",
              type.code == dlpack::Complex ? "complex numbers, " : "",
              "type code ", unsigned(type.code), ", ", unsigned(type.bits),
              " bits and ", type.lanes, " lanes has no dtype here");
}

/// A tensor in other hands: what its DLPack struct points at.
template <class Managed> struct Export {
  explicit Export(Ref<Tensor> given)
      : tensor(std::move(given)), storage(tensor->storage) {
    storage->addUser();
    const Layout &layout = tensor->layout;
    std::copy_n(layout.shape.begin(), layout.rank, shape);
    std::copy_n(layout.strides.begin(), layout.rank, strides);
    managed.manager_ctx = this;
    managed.deleter = [](Managed *self) {
      delete static_cast<Export *>(self->manager_ctx);
    };
    managed.dl_tensor = {tensor->data(),
                         {dlpack::hostDevice, 0},
                         int32_t(layout.rank),
                         toDlpack(tensor->dtype),
                         shape,
                         strides,
                         0};
  }
  ~Export() { storage->dropUser(); }

  Managed managed{};
  Ref<Tensor> tensor;
  Ref<Storage> storage;
  int64_t shape[ASTRA_MAX_RANK], strides[ASTRA_MAX_RANK];
};

template <class Managed>
Status give(astra_runtime *runtime, astra_tensor_t handle, Managed **managed) {
  if (managed)
    *managed = nullptr;
  ASTRA_TRY(needRuntime(runtime));
  ASTRA_TRY(need(managed, "managed"));
  Ref<Tensor> tensor;
  ASTRA_TRY(getReadable(runtime, handle, tensor));
  if (!tensor->device->sharesHostMemory())
    return fail(ASTRA_ERROR_DEVICE_MISMATCH, "the tensor is on the device \"",
                tensor->device->name(),
                "\", whose memory the host does not see");
  ASTRA_TRY(tensor->wait());
  auto made = std::make_unique<Export<Managed>>(tensor);
  ASTRA_TRY(tensor->beginReading());
  *managed = &made.release()->managed;
  return {};
}

/// The layout, with its offset from the lowest element on.
Status layoutOf(const DLTensor &from, uint32_t elementBytes, Layout &layout) {
  if (from.ndim < 0)
    return fail(ASTRA_ERROR_INVALID_ARGUMENT, "a DLPack tensor has ndim ",
                from.ndim);
  ASTRA_TRY(makeDense(uint32_t(from.ndim), from.shape, elementBytes, layout));
  if (!from.strides || layout.elementCount() == 0)
    return {};
  for (uint32_t axis = 0; axis < layout.rank; ++axis) {
    // Of an axis with one element any stride is right.
    if (layout.shape[axis] > 1)
      layout.strides[axis] = from.strides[axis];
    int64_t reach = 0;
    if (__builtin_mul_overflow(layout.shape[axis] - 1, layout.strides[axis],
                               &reach) ||
        (reach < 0 &&
         __builtin_sub_overflow(layout.offset, reach, &layout.offset)))
      return fail(ASTRA_ERROR_OVERFLOW, "the stride ", layout.strides[axis],
                  " of axis ", axis, " of a DLPack tensor leaves 64 bits");
  }
  return checkBounds(layout, INT64_MAX / elementBytes);
}

/// Of the element at index 0. A number: what a struct says may be no address.
uintptr_t addressOf(const DLTensor &from) {
  return reinterpret_cast<uintptr_t>(from.data) + from.byte_offset;
}

/// Whether addresses can be had by arithmetic; whether memory is there, only
/// the other side knows.
Status checkAddresses(const DLTensor &from, const Layout &layout,
                      uint32_t elementBytes) {
  uint64_t below = uint64_t(layout.offset) * elementBytes, first = 0;
  if (!__builtin_add_overflow(reinterpret_cast<uintptr_t>(from.data),
                              from.byte_offset, &first) &&
      first >= below) {
    uint64_t room = (UINTPTR_MAX - (first - below)) / elementBytes;
    if (checkBounds(layout, int64_t(std::min<uint64_t>(room, INT64_MAX))).ok())
      return {};
  }
  return fail(ASTRA_ERROR_OVERFLOW, "a DLPack tensor of shape ",
              shapeText(layout.rank, layout.shape.data()), " at byte_offset ",
              from.byte_offset, " leaves the addresses of 64 bits");
}

Status checkSource(const DLTensor &from, const Layout &layout,
                   const DtypeInfo &row) {
  if (from.device.device_type != dlpack::hostDevice)
    return fail(ASTRA_ERROR_DEVICE_MISMATCH,
                "a DLPack tensor is on a device "
                "of type ",
                from.device.device_type,
                ", but only the host's memory (type 1) can be taken");
  if (layout.elementCount() == 0)
    return {};
  ASTRA_TRY(need(from.data, "data"));
  ASTRA_TRY(checkAddresses(from, layout, row.bytes));
  uintptr_t address = addressOf(from);
  if (address % row.bytes)
    return fail(ASTRA_ERROR_INVALID_ARGUMENT,
                "the data of a DLPack tensor are "
                "not aligned to the ",
                row.bytes, " bytes of an element ", row.name);
  if (row.dtype != ASTRA_BOOL)
    return {};
  return checkBools(layout, reinterpret_cast<char *>(address) - layout.offset);
}

template <class Managed>
Status take(astra_runtime *runtime, astra_device_t device, Managed *managed,
            astra_tensor_t *tensor) {
  Ref<Device> home;
  ASTRA_TRY(runtime->get(device, home));
  if (!home->sharesHostMemory())
    return fail(ASTRA_ERROR_DEVICE_MISMATCH, "the device \"", home->name(),
                "\" cannot take the host's memory as it is");
  const DLTensor &from = managed->dl_tensor;
  const DtypeInfo *row = nullptr;
  Layout layout;
  ASTRA_TRY(fromDlpack(from.dtype, row));
  ASTRA_TRY(layoutOf(from, row->bytes, layout));
  ASTRA_TRY(checkSource(from, layout, *row));
  char *data = nullptr;
  if (from.data)
    data = reinterpret_cast<char *>(addressOf(from) -
                                    uint64_t(layout.offset) * row->bytes);
  // The caller keeps the tensor if this fails, so the deleter comes last.
  Ref<Storage> storage = Storage::borrow(data, 0);
  ASTRA_TRY(runtime->insert(
      make<Tensor>(home.get(), storage, row->dtype, row->bytes, layout),
      *tensor));
  storage->setRelease(
      [](void *context, void *) {
        auto *held = static_cast<Managed *>(context);
        if (held->deleter)
          held->deleter(held);
      },
      managed);
  return {};
}

} // namespace

astra_status_t astra_tensor_to_dlpack(astra_runtime_t *runtime,
                                      astra_tensor_t tensor,
                                      struct DLManagedTensorVersioned **managed,
                                      astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(give(runtime, tensor, managed));
    (*managed)->version = {dlpack::major, dlpack::minor};
    (*managed)->flags = dlpack::readOnly;
    return {};
  });
}

astra_status_t astra_tensor_to_dlpack_legacy(astra_runtime_t *runtime,
                                             astra_tensor_t tensor,
                                             struct DLManagedTensor **managed,
                                             astra_error_t **error) {
  return boundary(error, [&] { return give(runtime, tensor, managed); });
}

astra_status_t
astra_tensor_from_dlpack(astra_runtime_t *runtime, astra_device_t device,
                         struct DLManagedTensorVersioned *managed,
                         astra_tensor_t *tensor, astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(beginOutput(runtime, tensor, "tensor"));
    ASTRA_TRY(need(managed, "managed"));
    if (managed->version.major != dlpack::major)
      return fail(ASTRA_ERROR_UNSUPPORTED_VERSION,
                  "a DLPack tensor has version ", managed->version.major, ".",
                  managed->version.minor, ", but only versions 1.x are known");
    return take(runtime, device, managed, tensor);
  });
}

astra_status_t astra_tensor_from_dlpack_legacy(astra_runtime_t *runtime,
                                               astra_device_t device,
                                               struct DLManagedTensor *managed,
                                               astra_tensor_t *tensor,
                                               astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(beginOutput(runtime, tensor, "tensor"));
    ASTRA_TRY(need(managed, "managed"));
    return take(runtime, device, managed, tensor);
  });
}
