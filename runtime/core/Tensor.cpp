// Tensors and the public functions that make and describe them; see Tensor.h.
#include "core/Tensor.h"
#include "core/Dtype.h"
#include "core/HostCopy.h"
#include "core/Stream.h"
#include "core/Structs.h"

namespace astra {

Tensor::~Tensor() {
  uint32_t last = access.load();
  if (part && (last == Fresh || last == Writing))
    part->close({});
  if (Partition *split = parts.load())
    split->release();
  if (isUser)
    storage.leak()->releaseAsUser();
}

void Tensor::takeHandle(uint64_t count) {
  if (isUser)
    isUser = false;
  else if (referenceCount() == 1)
    storage->addFirstUser();
  else
    storage->addUser();
  retainMore(count);
}

void Tensor::dropHandle(uint64_t held) {
  if (referenceCount() == held) { // all of them
    isUser = true;
    delete this;
    return;
  }
  storage->dropUser();
  release(held);
}

Status Tensor::refuseReading() const {
  uint32_t seen = access.load();
  if (seen == Writing)
    return fail(ASTRA_ERROR_BUSY,
                "the tensor is mapped for writing; unmap it first");
  if (seen == Taken)
    return fail(ASTRA_ERROR_INVALID_HANDLE,
                "the tensor was used up by a call already");
  Partition *split = parts.load();
  return split ? split->checkClosed() : Status();
}

Status Tensor::sealNow() {
  uint32_t expected = Fresh;
  if (access.compare_exchange_strong(expected, Sealed) && part)
    part->close({});
  return refuseReading();
}

bool Tensor::claim() {
  uint32_t expected = Fresh;
  return access.compare_exchange_strong(expected, Taken);
}

void Tensor::close(const Ref<Completion> &work) {
  if (part)
    part->close(work);
}

void Tensor::setParts(Partition *given) {
  given->retain();
  parts.store(given);
}

Status Tensor::split(Ref<Partition> given) {
  // Sealed only once the parts are there: who sees that looks for them.
  uint32_t expected = Fresh;
  if (part || !access.compare_exchange_strong(expected, Writing))
    return fail(ASTRA_ERROR_BUSY,
                part ? "the tensor is a part already, and cannot be split again"
                     : "the tensor cannot be written: only one from "
                       "astra_tensor_empty can, before it has been retained, "
                       "read, viewed or passed to a call");
  setParts(given.get());
  access.store(Sealed);
  return {};
}

Status Tensor::wait() const {
  if (completion)
    ASTRA_TRY(completion->wait());
  Partition *split = parts.load();
  return split ? split->wait() : Status();
}

uint32_t Tensor::state() const {
  if (completion)
    return completion->state();
  Partition *split = parts.load();
  return split ? split->state() : uint32_t(ASTRA_TENSOR_READY);
}

Ref<Completion> Tensor::missing() const {
  if (completion)
    return completion->isDone() ? Ref<Completion>() : completion;
  Partition *split = parts.load();
  return split ? split->missing() : Ref<Completion>();
}

static Status needDtype(uint32_t dtype, const DtypeInfo *&row) {
  row = findDtype(dtype);
  if (row)
    return {};
  return fail(ASTRA_ERROR_INVALID_ARGUMENT, nameOfDtype(dtype),
              " is not a dtype that a tensor may have");
}

char *Tensor::nowhere() {
  alignas(64) static char memory[64];
  return memory;
}

Status makeTensor(Device *device, uint32_t dtype, uint32_t rank,
                  const int64_t *shape, Ref<Tensor> &tensor,
                  const Ref<Completion> &completion) {
  const DtypeInfo *row = nullptr;
  ASTRA_TRY(needDtype(dtype, row));
  Layout layout;
  ASTRA_TRY(makeDense(rank, shape, row->bytes, layout));
  size_t bytes = size_t(layout.elementCount()) * row->bytes;
  Ref<Storage> storage;
  Status status = device->allocate(bytes, storage);
  if (!status.ok()) {
    status.setMessage(join(status.message(), " (a tensor ", row->name,
                           shapeText(rank, shape), ")"));
    return status;
  }
  tensor = make<Tensor>(device, std::move(storage), dtype, row->bytes, layout,
                        completion);
  return {};
}

Status copyTensor(astra_runtime &runtime, Tensor &from, Ref<Tensor> &copy) {
  ASTRA_TRY(from.wait());
  ASTRA_TRY(makeTensor(from.device, from.dtype, from.layout.rank,
                       from.layout.shape.data(), copy));
  int64_t count = from.layout.elementCount();
  if (from.device->sharesHostMemory()) {
    ASTRA_TRY(from.beginReading());
    return readElements(runtime, from, 0, count, copy->data());
  }
  size_t bytes = size_t(from.byteCount());
  PoolBlock dense(runtime.memory, bytes);
  if (!dense.data())
    return outOfMemory(runtime.memory, bytes, "a copy of a device's memory");
  ASTRA_TRY(from.beginReading());
  ASTRA_TRY(readElements(runtime, from, 0, count, dense.data()));
  return writeAllElements(*copy, dense.data());
}

namespace {

Status checkByteCount(const Tensor &tensor, size_t bytes) {
  if (size_t(tensor.byteCount()) == bytes)
    return {};
  return fail(
      ASTRA_ERROR_COUNT_MISMATCH, "a tensor ", nameOfDtype(tensor.dtype),
      shapeText(tensor.layout.rank, tensor.layout.shape.data()), " has ",
      tensor.byteCount(), " bytes, but the buffer has ", bytes);
}

Status fillFrom(const Tensor &tensor, const void *data, size_t bytes) {
  ASTRA_TRY(checkByteCount(tensor, bytes));
  if (bytes == 0)
    return {};
  ASTRA_TRY(need(data, "data"));
  if (tensor.dtype == ASTRA_BOOL)
    ASTRA_TRY(checkBools(tensor.layout, data)); // dense, from element 0 on
  return tensor.device->upload(*tensor.storage, 0, data, bytes);
}

Status borrowLayout(const astra_borrow_t &borrow, const DtypeInfo &row,
                    Layout &layout) {
  ASTRA_TRY(makeDense(borrow.rank, borrow.shape, row.bytes, layout));
  layout.offset = borrow.offset;
  if (borrow.strides && layout.elementCount()) {
    for (uint32_t axis = 0; axis < borrow.rank; ++axis)
      layout.strides[axis] = borrow.strides[axis];
  }
  if (layout.elementCount() == 0) {
    layout.offset = 0;
    return {};
  }
  ASTRA_TRY(need(borrow.buffer, "buffer"));
  if (reinterpret_cast<uintptr_t>(borrow.buffer) % row.bytes)
    return fail(ASTRA_ERROR_INVALID_ARGUMENT,
                "the buffer is not aligned to the ", row.bytes,
                " bytes of an element ", row.name);
  return checkBounds(layout, int64_t(borrow.buffer_bytes / row.bytes));
}

Status describeAxes(const Tensor &tensor, const int64_t *values,
                    uint32_t capacity, uint32_t *rank, int64_t *out) {
  if (capacity)
    ASTRA_TRY(need(out, "the array"));
  for (uint32_t axis = 0; axis < tensor.layout.rank && axis < capacity; ++axis)
    out[axis] = values[axis];
  if (rank)
    *rank = tensor.layout.rank;
  return {};
}

} // namespace
} // namespace astra

using namespace astra;

astra_status_t astra_tensor_empty(astra_runtime_t *runtime,
                                  astra_device_t device, uint32_t dtype,
                                  uint32_t rank, const int64_t *shape,
                                  astra_tensor_t *tensor,
                                  astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(beginOutput(runtime, tensor, "tensor"));
    Ref<Device> target;
    ASTRA_TRY(runtime->get(device, target));
    Ref<Tensor> made;
    ASTRA_TRY(makeTensor(target.get(), dtype, rank, shape, made));
    made->access = Tensor::Fresh;
    return runtime->insert(std::move(made), *tensor);
  });
}

astra_status_t astra_tensor_from_data(astra_runtime_t *runtime,
                                      astra_device_t device, uint32_t dtype,
                                      uint32_t rank, const int64_t *shape,
                                      const void *data, size_t bytes,
                                      astra_tensor_t *tensor,
                                      astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(beginOutput(runtime, tensor, "tensor"));
    Ref<Device> target;
    ASTRA_TRY(runtime->get(device, target));
    Ref<Tensor> made;
    ASTRA_TRY(makeTensor(target.get(), dtype, rank, shape, made));
    ASTRA_TRY(fillFrom(*made, data, bytes));
    return runtime->insert(std::move(made), *tensor);
  });
}

astra_status_t astra_tensor_borrow(astra_runtime_t *runtime,
                                   const astra_borrow_t *borrow,
                                   astra_tensor_t *tensor,
                                   astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(beginOutput(runtime, tensor, "tensor"));
    astra_borrow_t given = {};
    ASTRA_TRY(
        readStruct(ASTRA_STRUCT_INFO(BORROW, astra_borrow_t), borrow, &given));
    Ref<Device> target;
    ASTRA_TRY(runtime->get(given.device, target));
    if (!target->sharesHostMemory())
      return fail(ASTRA_ERROR_DEVICE_MISMATCH, "the device \"", target->name(),
                  "\" has memory of its own, and cannot borrow the host's; see "
                  "astra_tensor_from_data");
    const DtypeInfo *row = nullptr;
    ASTRA_TRY(needDtype(given.dtype, row));
    Layout layout;
    ASTRA_TRY(borrowLayout(given, *row, layout));
    if (given.dtype == ASTRA_BOOL)
      ASTRA_TRY(checkBools(layout, given.buffer));
    // The caller keeps the memory if this fails, so the callback comes last.
    Ref<Storage> storage = Storage::borrow(given.buffer, given.buffer_bytes);
    ASTRA_TRY(runtime->insert(
        make<Tensor>(target.get(), storage, given.dtype, row->bytes, layout),
        *tensor));
    storage->setRelease(given.release, given.context);
    return {};
  });
}

astra_status_t astra_tensor_retain(astra_runtime_t *runtime,
                                   astra_tensor_t tensor,
                                   astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Tensor> object;
    ASTRA_TRY(getReadable(runtime, tensor, object));
    ASTRA_TRY(object->seal());
    return runtime->handles.retain(Kind::Tensor, tensor.bits);
  });
}

astra_status_t astra_tensor_release(astra_runtime_t *runtime,
                                    astra_tensor_t tensor,
                                    astra_error_t **error) {
  return releaseHandle(runtime, Kind::Tensor, tensor.bits, error);
}

astra_status_t astra_tensor_dtype(astra_runtime_t *runtime,
                                  astra_tensor_t tensor, uint32_t *dtype,
                                  astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Tensor> object;
    ASTRA_TRY(getObject(runtime, tensor, object));
    ASTRA_TRY(need(dtype, "dtype"));
    *dtype = object->dtype;
    return {};
  });
}

astra_status_t astra_tensor_shape(astra_runtime_t *runtime,
                                  astra_tensor_t tensor, uint32_t capacity,
                                  uint32_t *rank, int64_t *shape,
                                  astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Tensor> object;
    ASTRA_TRY(getObject(runtime, tensor, object));
    return describeAxes(*object, object->layout.shape.data(), capacity, rank,
                        shape);
  });
}

astra_status_t astra_tensor_strides(astra_runtime_t *runtime,
                                    astra_tensor_t tensor, uint32_t capacity,
                                    uint32_t *rank, int64_t *strides,
                                    astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Tensor> object;
    ASTRA_TRY(getObject(runtime, tensor, object));
    return describeAxes(*object, object->layout.strides.data(), capacity, rank,
                        strides);
  });
}

astra_status_t astra_tensor_state(astra_runtime_t *runtime,
                                  astra_tensor_t tensor, uint32_t *state,
                                  astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Tensor> object;
    ASTRA_TRY(getObject(runtime, tensor, object));
    ASTRA_TRY(need(state, "state"));
    *state = object->state();
    return {};
  });
}

astra_status_t astra_tensor_wait(astra_runtime_t *runtime,
                                 astra_tensor_t tensor, astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Tensor> object;
    ASTRA_TRY(getReadable(runtime, tensor, object));
    return object->wait();
  });
}

namespace {

/// Tells the host how a tensor's work ended.
class TensorCallback final : public Continuation {
public:
  using Fn = void (*)(void *context, astra_status_t status,
                      const astra_error_t *error);

  TensorCallback(Ref<Tensor> tensor, Fn fn, void *context)
      : tensor(std::move(tensor)), fn(fn), context(context) {}
  /// Calls back, or goes on waiting for the next part of the tensor.
  void resume(ReadyStreams &) noexcept override {
    while (Ref<Completion> missing = tensor->missing()) {
      if (missing->whenDone(*this))
        return;
    }
    astra_error_t *error = nullptr;
    astra_status_t status =
        deliver(guarded([&] { return tensor->wait(); }), &error);
    fn(context, status, error);
    astra_error_release(error);
    delete this;
  }

private:
  Ref<Tensor> tensor;
  Fn fn;
  void *context;
};

} // namespace

astra_status_t
astra_tensor_callback(astra_runtime_t *runtime, astra_tensor_t tensor,
                      void (*done)(void *context, astra_status_t status,
                                   const astra_error_t *error),
                      void *context, astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Tensor> object;
    ASTRA_TRY(getReadable(runtime, tensor, object));
    if (!done)
      return need(nullptr, "done");
    ReadyStreams none;
    (new TensorCallback(object, done, context))->resume(none);
    return {};
  });
}

astra_status_t astra_tensor_read(astra_runtime_t *runtime,
                                 astra_tensor_t tensor, void *buffer,
                                 size_t bytes, astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Tensor> object;
    ASTRA_TRY(getReadable(runtime, tensor, object));
    ASTRA_TRY(object->wait());
    ASTRA_TRY(checkByteCount(*object, bytes));
    if (bytes)
      ASTRA_TRY(need(buffer, "buffer"));
    ASTRA_TRY(object->beginReading());
    if (bytes == 0)
      return {};
    return readElements(*runtime, *object, 0, object->layout.elementCount(),
                        buffer);
  });
}
