// Views and mappings of tensors: the public functions.
#include "core/Dtype.h"
#include "core/HostCopy.h"
#include "core/Tensor.h"
#include <cstring>

using namespace astra;

namespace astra {
namespace {

/// Memory that the host sees, of a range of a tensor.
class Mapping : public Object {
public:
  static constexpr Kind kind = Kind::Mapping;

  explicit Mapping(const Ref<Tensor> &tensor)
      : tensor(tensor), storage(tensor->storage) {
    storage->addUser();
  }
  ~Mapping() override {
    storage->dropUser();
    if (writes)
      tensor->access = Tensor::Fresh;
  }

  /// Brings what was written to a device with memory of its own.
  Status flush() const {
    return writes && staging ? writeAllElements(*tensor, staging->data())
                             : Status();
  }

  Ref<Tensor> tensor;
  const Ref<Storage> storage;         // of the tensor that was asked for
  std::unique_ptr<PoolBlock> staging; // where the host does not see the memory
  bool writes = false;
};

Status checkRange(const Tensor &tensor, uint64_t first, uint64_t &count) {
  uint64_t total = uint64_t(tensor.layout.elementCount());
  if (first <= total && count == ASTRA_WHOLE)
    count = total - first;
  if (first > total || count > total - first)
    return fail(ASTRA_ERROR_OUT_OF_RANGE, "the range of ", count,
                " elements from ", first, " leaves the tensor, which has ",
                total);
  return {};
}

/// Makes a fresh tensor one that is being written.
Status beginWriting(Mapping &mapping) {
  if (!mapping.tensor->layout.isDense())
    return fail(ASTRA_ERROR_LAYOUT_MISMATCH,
                "the part is not dense, so it cannot be mapped for writing; "
                "write it with astra_tensor_copy");
  uint32_t expected = Tensor::Fresh;
  mapping.writes =
      mapping.tensor->access.compare_exchange_strong(expected, Tensor::Writing);
  if (mapping.writes)
    return {};
  return fail(ASTRA_ERROR_BUSY,
              expected == Tensor::Writing
                  ? "the tensor is mapped for writing already"
                  : "the tensor cannot be written: only one from "
                    "astra_tensor_empty can, before it has been retained, "
                    "read, viewed or passed to a call");
}

/// Makes sure that the contents are there, dense.
Status beginReading(astra_runtime &runtime, Mapping &mapping) {
  Tensor &tensor = *mapping.tensor;
  ASTRA_TRY(tensor.checkReadable());
  ASTRA_TRY(tensor.wait());
  if (tensor.layout.isDense() || !tensor.device->sharesHostMemory())
    return {};
  Ref<Tensor> copy;
  ASTRA_TRY(copyTensor(runtime, tensor, copy));
  mapping.tensor = copy;
  return {};
}

/// Makes the contents visible to the host where the device's memory is not.
Status stage(astra_runtime &runtime, Mapping &mapping) {
  Tensor &tensor = *mapping.tensor;
  if (tensor.device->sharesHostMemory())
    return {};
  size_t bytes = size_t(tensor.byteCount());
  mapping.staging = std::make_unique<PoolBlock>(runtime.memory, bytes);
  if (!mapping.staging->data())
    return outOfMemory(runtime.memory, bytes, "a mapping");
  if (!mapping.writes)
    ASTRA_TRY(tensor.beginReading());
  // What is not written stays as it was.
  return readElements(runtime, tensor, 0, tensor.layout.elementCount(),
                      mapping.staging->data());
}

Status checkMapArguments(astra_runtime *runtime, astra_device_t device,
                         uint32_t access, void **data, size_t *bytes) {
  ASTRA_TRY(need(data, "data"));
  ASTRA_TRY(need(bytes, "bytes"));
  if (access == 0 || (access & ~uint32_t(ASTRA_MAP_READ | ASTRA_MAP_WRITE)))
    return fail(ASTRA_ERROR_INVALID_ARGUMENT, "access ", access,
                " is not a combination of ASTRA_MAP_READ and ASTRA_MAP_WRITE");
  if (device.bits == 0)
    return {};
  Ref<Device> host;
  ASTRA_TRY(runtime->get(device, host));
  if (std::strcmp(host->name(), "cpu") == 0)
    return {};
  return fail(ASTRA_ERROR_UNIMPLEMENTED,
              "memory can be mapped for the device "
              "\"cpu\" only, not for \"",
              host->name(), "\"");
}

/// Keeps a handle that was given out if the last step succeeded too.
template <class T, class Handle>
Status keepIf(astra_runtime &runtime, Status last, const Ref<T> &,
              Handle &handle) {
  if (!last.ok()) {
    Status ignored = runtime.handles.release(T::kind, handle.bits);
    handle.bits = 0;
  }
  return last;
}

/// Gives out a view, and seals the whole when nothing else can be refused.
Status insertView(astra_runtime &runtime, Tensor &whole,
                  const Ref<Tensor> &view, astra_tensor_t &handle) {
  ASTRA_TRY(runtime.insert(view, handle));
  Status sealed = whole.seal();
  if (sealed.ok())
    view->takeParts(whole);
  return keepIf(runtime, std::move(sealed), view, handle);
}

template <class Make>
astra_status_t viewOf(astra_runtime *runtime, astra_tensor_t tensor,
                      astra_tensor_t *view, astra_error_t **error,
                      Make makeLayout) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(beginOutput(runtime, view, "view"));
    Ref<Tensor> made;
    auto makeView = [&](const Tensor &object) -> Status {
      Layout layout;
      ASTRA_TRY(makeLayout(object.layout, layout));
      made = make<Tensor>(object, layout);
      return {};
    };
    bool isPlain = false; // most are: these are looked at where they are
    Status status;
    runtime->handles.visit<Tensor>(tensor.bits, [&](const Tensor &object) {
      if ((isPlain = object.isPlain()))
        status = makeView(object);
    });
    Ref<Tensor> object;
    if (!isPlain) {
      ASTRA_TRY(getReadable(runtime, tensor, object));
      status = makeView(*object);
    }
    ASTRA_TRY(status);
    return object ? insertView(*runtime, *object, made, *view)
                  : runtime->insert(std::move(made), *view);
  });
}

} // namespace
} // namespace astra

astra_status_t astra_tensor_slice(astra_runtime_t *runtime,
                                  astra_tensor_t tensor, const int64_t *starts,
                                  const int64_t *extents, const int64_t *steps,
                                  astra_tensor_t *view, astra_error_t **error) {
  return viewOf(runtime, tensor, view, error,
                [&](const Layout &from, Layout &layout) {
                  return sliceLayout(from, starts, extents, steps, layout);
                });
}

astra_status_t astra_tensor_reshape(astra_runtime_t *runtime,
                                    astra_tensor_t tensor, uint32_t rank,
                                    const int64_t *shape, astra_tensor_t *view,
                                    astra_error_t **error) {
  return viewOf(runtime, tensor, view, error,
                [&](const Layout &from, Layout &layout) {
                  return reshapeLayout(from, rank, shape, layout);
                });
}

astra_status_t astra_tensor_transpose(astra_runtime_t *runtime,
                                      astra_tensor_t tensor,
                                      const uint32_t *permutation,
                                      astra_tensor_t *view,
                                      astra_error_t **error) {
  return viewOf(runtime, tensor, view, error,
                [&](const Layout &from, Layout &layout) {
                  return transposeLayout(from, permutation, layout);
                });
}

astra_status_t astra_tensor_dense(astra_runtime_t *runtime,
                                  astra_tensor_t tensor, astra_tensor_t *dense,
                                  astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(beginOutput(runtime, dense, "dense"));
    Ref<Tensor> object, made;
    ASTRA_TRY(getReadable(runtime, tensor, object));
    if (object->layout.isDense())
      return insertView(*runtime, *object,
                        make<Tensor>(*object, object->layout), *dense);
    ASTRA_TRY(copyTensor(*runtime, *object, made));
    return runtime->insert(std::move(made), *dense);
  });
}

astra_status_t astra_tensor_map(astra_runtime_t *runtime, astra_tensor_t tensor,
                                astra_device_t device, uint32_t access,
                                uint64_t first, uint64_t count,
                                astra_mapping_t *mapping, void **data,
                                size_t *bytes, astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(beginOutput(runtime, mapping, "mapping"));
    ASTRA_TRY(checkMapArguments(runtime, device, access, data, bytes));
    Ref<Tensor> object;
    ASTRA_TRY(runtime->get(tensor, object));
    ASTRA_TRY(checkRange(*object, first, count));
    auto made = make<Mapping>(object);
    ASTRA_TRY(access & ASTRA_MAP_WRITE ? beginWriting(*made)
                                       : beginReading(*runtime, *made));
    ASTRA_TRY(stage(*runtime, *made));
    ASTRA_TRY(runtime->insert(made, *mapping));
    if (!made->writes)
      ASTRA_TRY(keepIf(*runtime, object->beginReading(), made, *mapping));
    void *start = made->staging ? made->staging->data() : made->tensor->data();
    *data = static_cast<char *>(start) + first * object->elementBytes;
    *bytes = size_t(count) * object->elementBytes;
    return {};
  });
}

astra_status_t astra_tensor_unmap(astra_runtime_t *runtime,
                                  astra_mapping_t mapping,
                                  astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Mapping> object;
    ASTRA_TRY(getObject(runtime, mapping, object));
    Status flushed = object->flush();
    object = {};
    ASTRA_TRY(runtime->handles.release(Kind::Mapping, mapping.bits));
    return flushed;
  });
}
