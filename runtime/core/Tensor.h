// A tensor: a layout over a storage on a device, with the completion of the
// work that makes it. Immutable but for one from astra_tensor_empty that nobody
// else has seen yet.
#ifndef ASTRA_RUNTIME_TENSOR_H
#define ASTRA_RUNTIME_TENSOR_H

#include "core/Completion.h"
#include "core/Layout.h"
#include "core/Partition.h"
#include "core/Runtime.h"

namespace astra {

class Tensor final : public Object {
public:
  static constexpr Kind kind = Kind::Tensor;

  Tensor(Device *device, Ref<Storage> storage, uint32_t dtype,
         uint32_t elementBytes, const Layout &layout,
         Ref<Completion> completion = {}, Ref<Partition> part = {})
      : device(device), storage(std::move(storage)), dtype(dtype),
        elementBytes(elementBytes), layout(layout),
        completion(std::move(completion)), part(std::move(part)),
        access(this->part ? Fresh : Sealed) {}
  /// A view of `whole`, to be given a handle.
  Tensor(const Tensor &whole, const Layout &layout)
      : device(whole.device), storage(whole.storage->refAsUser()),
        dtype(whole.dtype), elementBytes(whole.elementBytes), layout(layout),
        completion(whole.completion), access(Sealed), isUser(true) {
    takeParts(whole);
  }
  /// Of a view whose whole may have been split before it was sealed.
  void takeParts(const Tensor &whole) {
    Partition *split = whole.parts.load();
    if (split && !parts.load())
      setParts(split);
  }
  ~Tensor() override;

  void takeHandle(uint64_t count) override;
  void dropHandle(uint64_t held) override;

  /// Refused while the tensor may be written by a mapping or in parts, and once
  /// it has been consumed.
  Status checkReadable() const {
    return isPlain() ? Status() : refuseReading();
  }
  /// Marks the tensor as seen by someone who relies on its contents; refused as
  /// by checkReadable. It lasts, so it comes after all that can be refused.
  Status seal() { return isPlain() ? Status() : sealNow(); }
  /// Seals, and waits for what has been made of it meanwhile.
  Status beginReading() {
    ASTRA_TRY(seal());
    return wait();
  }
  /// Whether it is sealed and was never split.
  bool isPlain() const { return access.load() == Sealed && !parts.load(); }
  /// Takes the right to write, which nobody else has from then on; false if the
  /// tensor cannot be written. A part stays open until `close`.
  bool claim();
  /// Tells the whole what `work` writes this claimed part; none if it is null.
  void close(const Ref<Completion> &work);
  /// Splits a fresh tensor into parts that can be written instead of it.
  Status split(Ref<Partition> parts);
  /// Waits until the contents are there.
  Status wait() const;
  /// ASTRA_TENSOR_*.
  uint32_t state() const;
  /// The first work that the contents need and that is not done, or null.
  Ref<Completion> missing() const;
  int64_t byteCount() const { return layout.elementCount() * elementBytes; }
  /// The element with all indices 0: an address of the device.
  char *data() const {
    // A buffer that was borrowed for no elements may be null.
    if (!storage->data())
      return nowhere();
    return static_cast<char *>(storage->data()) + layout.offset * elementBytes;
  }
  /// Memory for nothing, aligned for any element.
  static char *nowhere();
  /// Fresh tensors may be mapped for writing; a mapping makes them Writing.
  /// What has been claimed is Taken: its contents are another tensor's.
  enum Access : uint32_t { Sealed, Fresh, Writing, Taken };

  Device *const device; // lives as long as the runtime
  Ref<Storage> storage; // set once
  const uint32_t dtype;
  const uint32_t elementBytes;
  const Layout layout;
  const Ref<Completion> completion;
  const Ref<Partition> part; // that this is a writable part of
  std::atomic<uint32_t> access;

private:
  Status refuseReading() const;
  Status sealNow();
  void setParts(Partition *given);

  // Whether it counts as a user of the storage without a handle: before it
  // has its first, and between the last and its end.
  bool isUser = false;
  std::atomic<Partition *> parts{nullptr}; // that this was split into; counted
};

/// A dense tensor with unspecified contents.
Status makeTensor(Device *device, uint32_t dtype, uint32_t rank,
                  const int64_t *shape, Ref<Tensor> &tensor,
                  const Ref<Completion> &completion = {});
/// A dense tensor with a copy of the elements, on the same device. Waits, and
/// seals what is copied.
Status copyTensor(astra_runtime &runtime, Tensor &from, Ref<Tensor> &copy);

/// Looks a tensor up that is going to be read; whoever has checked the rest
/// seals it.
inline Status getReadable(astra_runtime *runtime, astra_tensor_t handle,
                          Ref<Tensor> &tensor) {
  ASTRA_TRY(getObject(runtime, handle, tensor));
  return tensor->checkReadable();
}

} // namespace astra
#endif // ASTRA_RUNTIME_TENSOR_H
