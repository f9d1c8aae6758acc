// Writing into parts of a buffer: the public functions of partitions and
// copies.
#include "core/Dtype.h"
#include "core/HostCopy.h"
#include "core/Stream.h"
#include "core/Tensor.h"

using namespace astra;

namespace {

/// Copies one tensor into the storage of another.
class CopyTask final : public Task {
public:
  CopyTask(astra_runtime &runtime, Ref<Tensor> from, Ref<Tensor> into)
      : runtime(runtime), from(std::move(from)), into(std::move(into)) {}
  Ref<Completion> blocker() const override { return from->missing(); }
  Status run() override {
    Status status = from->wait(); // it is done already
    if (!status.ok())
      return Status::poisoned("the tensor to copy", status);
    if (!into->device->sharesHostMemory())
      return copyOnDevice();
    copyStrided(from->layout, from->storage->data(), into->layout,
                into->storage->data(), from->elementBytes);
    return {};
  }
  void drop() override {
    from = {};
    into = {};
  }

private:
  /// By way of the host.
  Status copyOnDevice() {
    size_t bytes = size_t(from->byteCount());
    PoolBlock dense(runtime.memory, bytes);
    if (!dense.data())
      return outOfMemory(runtime.memory, bytes, "a copy of a device's memory");
    ASTRA_TRY(readElements(runtime, *from, 0, from->layout.elementCount(),
                           dense.data()));
    return writeAllElements(*into, dense.data());
  }

  astra_runtime &runtime;
  Ref<Tensor> from, into;
};

Status checkSlices(const Tensor &tensor, const Slices &slices) {
  if (slices.count == 0 || slices.count > ASTRA_MOST_PARTS)
    return fail(ASTRA_ERROR_INVALID_ARGUMENT, "a partition has 1 to ",
                ASTRA_MOST_PARTS, " parts, not ", slices.count);
  if (tensor.layout.rank == 0 && slices.count > 1)
    return fail(ASTRA_ERROR_INVALID_ARGUMENT,
                "a tensor of rank 0 has one element, so it has one part");
  if (tensor.layout.rank) {
    ASTRA_TRY(need(slices.starts, "starts"));
    ASTRA_TRY(need(slices.extents, "extents"));
  }
  return {};
}

Status makeParts(const Ref<Tensor> &whole, const Slices &slices,
                 std::vector<Ref<Tensor>> &parts) {
  ASTRA_TRY(checkSlices(*whole, slices));
  std::vector<Layout> layouts(slices.count);
  for (size_t i = 0; i < slices.count; ++i) {
    size_t row = i * slices.rank;
    Status status =
        sliceLayout(whole->layout, slices.starts + row, slices.extents + row,
                    slices.steps ? slices.steps + row : nullptr, layouts[i]);
    if (!status.ok()) {
      status.setMessage(join("part ", i, ": ", status.message()));
      return status;
    }
  }
  ASTRA_TRY(checkDisjoint(slices));
  auto partition = make<Partition>(slices.count);
  parts.reserve(slices.count);
  for (const Layout &layout : layouts)
    parts.push_back(make<Tensor>(whole->device, whole->storage, whole->dtype,
                                 whole->elementBytes, layout, Ref<Completion>(),
                                 partition));
  return {};
}

/// Gives out handles for the parts and splits the whole, or does neither.
Status publishParts(astra_runtime &runtime, Tensor &whole,
                    const std::vector<Ref<Tensor>> &made,
                    astra_tensor_t *parts) {
  Status status;
  size_t given = 0;
  while (status.ok() && given < made.size()) {
    status = runtime.insert(made[given], parts[given]);
    given += status.ok();
  }
  if (status.ok())
    status = whole.split(made[0]->part);
  while (!status.ok() && given-- > 0)
    Status ignored = runtime.handles.release(Kind::Tensor, parts[given].bits);
  return status;
}

Status checkCopy(const Tensor &from, const Tensor &into, const Device &device) {
  if (from.device != &device || into.device != &device)
    return fail(ASTRA_ERROR_DEVICE_MISMATCH, "the tensors are on \"",
                from.device->name(), "\" and \"", into.device->name(),
                "\", but the stream is on \"", device.name(), "\"");
  if (from.dtype != into.dtype)
    return fail(ASTRA_ERROR_DTYPE_MISMATCH, "a tensor of ",
                nameOfDtype(from.dtype), " cannot be copied into one of ",
                nameOfDtype(into.dtype));
  const Layout &source = from.layout, &target = into.layout;
  if (source.rank != target.rank ||
      !std::equal(source.shape.begin(), source.shape.begin() + source.rank,
                  target.shape.begin()))
    return fail(ASTRA_ERROR_SHAPE_MISMATCH, "a tensor of shape ",
                shapeText(source.rank, source.shape.data()),
                " cannot be copied into one of shape ",
                shapeText(target.rank, target.shape.data()));
  return {};
}

/// Consumes what is copied into, and then seals the source: what is refused
/// leaves it as it was.
Status takeForCopy(astra_runtime &runtime, astra_tensor_t into, Tensor &target,
                   Tensor &source) {
  if (!target.claim())
    return fail(ASTRA_ERROR_BUSY,
                "the tensor to copy into cannot be written: only one from "
                "astra_tensor_empty or a part of one can, before it has been "
                "retained, read, viewed, mapped or passed");
  Status status = guarded([&]() -> Status {
    ASTRA_TRY(runtime.handles.release(Kind::Tensor, into.bits));
    return source.seal();
  });
  if (!status.ok())
    target.close({});
  return status;
}

} // namespace

astra_status_t
astra_tensor_partition(astra_runtime_t *runtime, astra_tensor_t tensor,
                       size_t count, const int64_t *starts,
                       const int64_t *extents, const int64_t *steps,
                       astra_tensor_t *parts, astra_error_t **error) {
  astra_status_t status = boundary(error, [&]() -> Status {
    Ref<Tensor> whole;
    ASTRA_TRY(getObject(runtime, tensor, whole));
    ASTRA_TRY(need(parts, "parts"));
    Slices slices = {whole->layout.rank, count, starts, extents, steps};
    std::vector<Ref<Tensor>> made;
    ASTRA_TRY(makeParts(whole, slices, made));
    return publishParts(*runtime, *whole, made, parts);
  });
  if (status != ASTRA_OK && parts)
    std::fill_n(parts, count, astra_tensor_t{0});
  return status;
}

astra_status_t astra_tensor_copy(astra_runtime_t *runtime,
                                 astra_stream_t stream, astra_tensor_t from,
                                 astra_tensor_t into, astra_tensor_t *tensor,
                                 astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(beginOutput(runtime, tensor, "tensor"));
    ASTRA_TRY(needWorking(runtime));
    Ref<Stream> queue;
    Ref<Tensor> source, target;
    ASTRA_TRY(runtime->get(stream, queue));
    ASTRA_TRY(runtime->get(into, target));
    ASTRA_TRY(getReadable(runtime, from, source));
    ASTRA_TRY(checkCopy(*source, *target, queue->getDevice()));
    if (source.get() == target.get())
      return fail(ASTRA_ERROR_BUSY,
                  "the tensor to copy into cannot be written: it is the one "
                  "to copy from");
    auto done = make<Completion>(Ref<Timeline>(queue));
    auto made = make<Tensor>(target->device, target->storage, target->dtype,
                             target->elementBytes, target->layout, done);
    auto task = std::make_unique<CopyTask>(*runtime, source, made);
    task->done = done;
    ASTRA_TRY(runtime->insert(made, *tensor));
    Status taken =
        guarded([&] { return takeForCopy(*runtime, into, *target, *source); });
    if (!taken.ok()) {
      Status ignored = runtime->handles.release(Kind::Tensor, tensor->bits);
      tensor->bits = 0;
      return taken;
    }
    queue->submit(std::move(task), [&] { target->close(done); });
    return {};
  });
}
