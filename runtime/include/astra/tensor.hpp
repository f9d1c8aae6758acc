// What astra.hpp is made of: devices, events, streams and tensors. A program
// includes astra/astra.hpp.
#ifndef ASTRA_TENSOR_HPP
#define ASTRA_TENSOR_HPP

#include "astra/owner.hpp"

namespace astra {
// The runtime's own classes have names of this namespace too; the linker must
// not take one for the other where the static library is used.
inline namespace cpp {

class Device : public detail::Owner<astra_device_t, astra_device_release> {
public:
  using Owner::Owner;
};

/// A point in a stream's work: Stream::record puts it there, and
/// Stream::waitFor has work wait for it. See ASTRA_EVENT_HOST for one that the
/// program signals.
class Event : public detail::Owner<astra_event_t, astra_event_release> {
public:
  using Owner::Owner;

  Done wait() const {
    return detail::run([&](astra_error_t **error) {
      return astra_event_wait(runtime(), get(), error);
    });
  }
  /// Of an event of the host: it is ready from now on.
  Done signal() const {
    return detail::run([&](astra_error_t **error) {
      return astra_event_signal(runtime(), get(), error);
    });
  }
  /// ASTRA_TENSOR_PENDING, _READY or _FAILED.
  Result<uint32_t> state() const {
    return detail::get<uint32_t>([&](uint32_t *state, astra_error_t **error) {
      return astra_event_state(runtime(), get(), state, error);
    });
  }
  /// Nanoseconds from `first` to this event; both must be ready.
  Result<int64_t> since(const Event &first) const {
    return detail::get<int64_t>([&](int64_t *time, astra_error_t **error) {
      return astra_event_elapsed(runtime(), first.get(), get(), time, error);
    });
  }
  /// Calls done(astra_status_t) once: see astra_event_callback.
  template <class Function> Done callback(Function done) const {
    return detail::callBack<astra_status_t>(
        std::move(done), [&](auto call, void *context, astra_error_t **error) {
          return astra_event_callback(runtime(), get(), call, context, error);
        });
  }
};

class Stream : public detail::Owner<astra_stream_t, astra_stream_release> {
public:
  using Owner::Owner;

  Done wait() const {
    return detail::run([&](astra_error_t **error) {
      return astra_stream_wait(runtime(), get(), error);
    });
  }
  /// Fails the work that has not begun: see astra_stream_cancel.
  Done cancel() const {
    return detail::run([&](astra_error_t **error) {
      return astra_stream_cancel(runtime(), get(), error);
    });
  }
  /// Calls done(astra_status_t) once, behind the work that there is, on the
  /// thread that does it: see astra_stream_callback.
  template <class Function> Done callback(Function done) const {
    return detail::callBack<astra_status_t>(
        std::move(done), [&](auto call, void *context, astra_error_t **error) {
          return astra_stream_callback(runtime(), get(), call, context, error);
        });
  }
  /// Does up to `limit` pieces of work of an ASTRA_STREAM_MANUAL stream here,
  /// and gives their number.
  Result<uint64_t> run(uint64_t limit = UINT64_MAX) const {
    return detail::get<uint64_t>([&](uint64_t *done, astra_error_t **error) {
      return astra_stream_run(runtime(), get(), limit, done, error);
    });
  }
  /// Puts the event behind the work that there is.
  Done record(const Event &event) const {
    return detail::run([&](astra_error_t **error) {
      return astra_event_record(runtime(), event.get(), get(), error);
    });
  }
  /// Has the work that comes wait for the event.
  Done waitFor(const Event &event) const {
    return detail::run([&](astra_error_t **error) {
      return astra_stream_wait_event(runtime(), get(), event.get(), error);
    });
  }
  /// Records what runs: see astra_stream_trace.
  Done trace(bool on) const {
    return detail::run([&](astra_error_t **error) {
      return astra_stream_trace(runtime(), get(), on, error);
    });
  }
  /// Stops at the first ASTRA_CHECK_NAN or _INFINITY: see astra_stream_check.
  Done check(uint32_t what) const {
    return detail::run([&](astra_error_t **error) {
      return astra_stream_check(runtime(), get(), what, error);
    });
  }
};

/// The elements of a tensor in memory, for as long as it lives.
template <class T>
class Mapping : public detail::Owner<astra_mapping_t, astra_tensor_unmap> {
public:
  Mapping(astra_runtime_t *runtime, astra_mapping_t handle, Span<T> elements)
      : Owner(runtime, handle), all(elements) {}
  Span<T> elements() const { return all; }

private:
  Span<T> all;
};

class Tensor : public detail::Owner<astra_tensor_t, astra_tensor_release> {
public:
  using Owner::Owner;

  /// A copy of `elements`, row by row.
  template <class T>
  static Result<Tensor> from(const Device &device, Span<const T> elements,
                             Span<const int64_t> shape) {
    return detail::make<Tensor, astra_tensor_t>(
        device.runtime(), [&](astra_tensor_t *tensor, astra_error_t **error) {
          return astra_tensor_from_data(
              device.runtime(), device.get(), dtypeOf<T>(),
              uint32_t(shape.size()), shape.data(), elements.data(),
              elements.size() * sizeof(T), tensor, error);
        });
  }
  template <class T>
  static Result<Tensor> from(const Device &device,
                             const std::vector<T> &elements,
                             const std::vector<int64_t> &shape) {
    return from<T>(device, Span<const T>(elements), Span<const int64_t>(shape));
  }

  /// A tensor that can be written once, through write(), before it is used.
  template <class T>
  static Result<Tensor> empty(const Device &device,
                              const std::vector<int64_t> &shape) {
    return detail::make<Tensor, astra_tensor_t>(
        device.runtime(), [&](astra_tensor_t *tensor, astra_error_t **error) {
          return astra_tensor_empty(device.runtime(), device.get(),
                                    dtypeOf<T>(), uint32_t(shape.size()),
                                    shape.data(), tensor, error);
        });
  }

  /// The elements in memory, row by row, without a copy where they lie so.
  /// T must be the type of the elements; f16 and bf16 are uint16_t, bool is
  /// uint8_t.
  template <class T> Result<Mapping<const T>> view() const {
    return map<const T>(ASTRA_MAP_READ);
  }
  template <class T> Result<Mapping<T>> write() const {
    return map<T>(ASTRA_MAP_WRITE);
  }

  /// Views, which share the memory: see astra_tensor_slice and those beside it.
  /// `steps` may be empty, for 1.
  Result<Tensor> slice(const std::vector<int64_t> &starts,
                       const std::vector<int64_t> &extents,
                       const std::vector<int64_t> &steps = {}) const {
    size_t axes = starts.size();
    if (Done fits = hasRank(axes); !fits)
      return fits.error();
    if (extents.size() != axes || (!steps.empty() && steps.size() != axes))
      return Error(ASTRA_ERROR_COUNT_MISMATCH,
                   "a slice has as many extents, and steps, as starts");
    return detail::make<Tensor, astra_tensor_t>(
        runtime(), [&](astra_tensor_t *view, astra_error_t **error) {
          return astra_tensor_slice(
              runtime(), get(), starts.data(), extents.data(),
              steps.empty() ? nullptr : steps.data(), view, error);
        });
  }
  Result<Tensor> reshape(const std::vector<int64_t> &shape) const {
    return detail::make<Tensor, astra_tensor_t>(
        runtime(), [&](astra_tensor_t *view, astra_error_t **error) {
          return astra_tensor_reshape(runtime(), get(), uint32_t(shape.size()),
                                      shape.data(), view, error);
        });
  }
  Result<Tensor> transpose(const std::vector<uint32_t> &permutation) const {
    if (Done fits = hasRank(permutation.size()); !fits)
      return fits.error();
    return detail::make<Tensor, astra_tensor_t>(
        runtime(), [&](astra_tensor_t *view, astra_error_t **error) {
          return astra_tensor_transpose(runtime(), get(), permutation.data(),
                                        view, error);
        });
  }
  /// A view where the tensor is dense, else a copy.
  Result<Tensor> dense() const {
    return detail::make<Tensor, astra_tensor_t>(
        runtime(), [&](astra_tensor_t *dense, astra_error_t **error) {
          return astra_tensor_dense(runtime(), get(), dense, error);
        });
  }
  /// Puts a copy into a tensor from empty() into the stream. `into` is empty
  /// afterwards, unless the call was refused.
  Result<Tensor> copy(const Stream &stream, Tensor &into) const {
    Result<Tensor> copied = detail::make<Tensor, astra_tensor_t>(
        runtime(), [&](astra_tensor_t *tensor, astra_error_t **error) {
          return astra_tensor_copy(runtime(), stream.get(), get(), into.get(),
                                   tensor, error);
        });
    if (copied)
      into.release();
    return copied;
  }

  /// One more owner of the same tensor.
  Result<Tensor> share() const {
    Done done = detail::run([&](astra_error_t **error) {
      return astra_tensor_retain(runtime(), get(), error);
    });
    if (!done)
      return done.error();
    return Tensor(runtime(), get());
  }
  /// Waits, and reports how the work that makes the tensor ended.
  Done wait() const {
    return detail::run([&](astra_error_t **error) {
      return astra_tensor_wait(runtime(), get(), error);
    });
  }
  /// ASTRA_TENSOR_PENDING, _READY or _FAILED.
  Result<uint32_t> state() const {
    return detail::get<uint32_t>([&](uint32_t *state, astra_error_t **error) {
      return astra_tensor_state(runtime(), get(), state, error);
    });
  }
  /// Calls done(astra_status_t, const astra_error_t *) once: see
  /// astra_tensor_callback.
  template <class Function> Done callback(Function done) const {
    return detail::callBack<astra_status_t, const astra_error_t *>(
        std::move(done), [&](auto call, void *context, astra_error_t **error) {
          return astra_tensor_callback(runtime(), get(), call, context, error);
        });
  }
  Result<uint32_t> dtype() const {
    return detail::get<uint32_t>([&](uint32_t *dtype, astra_error_t **error) {
      return astra_tensor_dtype(runtime(), get(), dtype, error);
    });
  }
  Result<std::vector<int64_t>> shape() const {
    uint32_t rank = 0;
    std::vector<int64_t> extents(ASTRA_MAX_RANK);
    Done done = detail::run([&](astra_error_t **error) {
      return astra_tensor_shape(runtime(), get(), ASTRA_MAX_RANK, &rank,
                                extents.data(), error);
    });
    if (!done)
      return done.error();
    extents.resize(rank);
    return extents;
  }
  /// All elements, row by row; T as for view().
  template <class T> Result<std::vector<T>> read() const {
    static_assert(!std::is_same_v<T, bool>, "read bool elements as uint8_t");
    if (Done fits = hasElements<T>(); !fits)
      return fits.error();
    Result<std::vector<int64_t>> extents = shape();
    if (!extents)
      return extents.error();
    size_t count = 1;
    for (int64_t extent : *extents)
      count *= size_t(extent);
    std::vector<T> elements(count);
    Done done = detail::run([&](astra_error_t **error) {
      return astra_tensor_read(runtime(), get(), elements.data(),
                               count * sizeof(T), error);
    });
    if (!done)
      return done.error();
    return elements;
  }

private:
  template <class T> Done hasElements() const {
    Result<uint32_t> found = dtype();
    if (!found)
      return found.error();
    if (!detail::holds<T>(*found))
      return Error(ASTRA_ERROR_DTYPE_MISMATCH,
                   "the tensor has elements of " + detail::nameOf(*found) +
                       ", not of " + detail::nameOf(dtypeOf<T>()));
    return Nothing();
  }
  Done hasRank(size_t axes) const {
    Result<std::vector<int64_t>> extents = shape();
    if (!extents)
      return extents.error();
    if (extents->size() != axes)
      return Error(ASTRA_ERROR_SHAPE_MISMATCH,
                   "the tensor has " + std::to_string(extents->size()) +
                       " axes, but " + std::to_string(axes) + " are given");
    return Nothing();
  }
  template <class T> Result<Mapping<T>> map(uint32_t access) const {
    if (Done fits = hasElements<T>(); !fits)
      return fits.error();
    astra_mapping_t mapping = {};
    void *data = nullptr;
    size_t bytes = 0;
    Done done = detail::run([&](astra_error_t **error) {
      return astra_tensor_map(runtime(), get(), astra_device_t{}, access, 0,
                              ASTRA_WHOLE, &mapping, &data, &bytes, error);
    });
    if (!done)
      return done.error();
    return Mapping<T>(runtime(), mapping,
                      Span<T>(static_cast<T *>(data), bytes / sizeof(T)));
  }
};

} // namespace cpp
} // namespace astra

#endif // ASTRA_TENSOR_HPP
