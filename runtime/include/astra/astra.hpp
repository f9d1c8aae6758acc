// Astra for C++17: owners of the C API's handles, spans and results, header
// only. Everything here is a thin inline layer over astra/astra.h, whose rules
// hold. What has no name here is done with the functions of astra.h, which take
// what `get()` gives: calls with donated inputs or targets, partitions,
// borrowed memory, DLPack, foreign events, back ends, single trace events; so
// do the functions of a generated header.
//
// A function that can fail returns a Result. `result.value()` gives what it
// holds, or throws the Error where exceptions are on and ends the program with
// its sentence where they are not; `if (!result) use(result.error());` needs no
// exceptions. Owners may be moved and not copied; each must be gone before its
// Runtime is, which is therefore declared before them.
#ifndef ASTRA_ASTRA_HPP
#define ASTRA_ASTRA_HPP

#include "astra/tensor.hpp"

namespace astra {
// The runtime's own classes have names of this namespace too; the linker must
// not take one for the other where the static library is used.
inline namespace cpp {

class Function
    : public detail::Owner<astra_function_t, astra_function_release> {
public:
  using Owner::Owner;

  Result<astra_function_info_t> info() const {
    return detail::ask<astra_function_info_t>(
        ASTRA_STRUCT_FUNCTION_INFO, [&](auto *info, astra_error_t **error) {
          return astra_function_info(runtime(), get(), info, error);
        });
  }
  Result<astra_value_info_t> parameter(size_t index) const {
    return value(index, astra_function_parameter);
  }
  Result<astra_value_info_t> result(size_t index) const {
    return value(index, astra_function_result);
  }
  Result<astra_leaf_info_t> input(size_t index) const {
    return leaf(index, astra_function_input);
  }
  Result<astra_leaf_info_t> output(size_t index) const {
    return leaf(index, astra_function_output);
  }
  /// "line.astra:12:8", or "".
  Result<std::string> source() const {
    const char *text = "";
    Done done = detail::run([&](astra_error_t **error) {
      return astra_function_source(runtime(), get(), &text, error);
    });
    if (!done)
      return done.error();
    return std::string(text);
  }

  /// One input of a call: a tensor, which stays its owner's, or a scalar.
  class Input {
  public:
    Input(const Tensor &tensor) : held(astra_value_of_tensor(tensor.get())) {}
    Input(astra_value_t value) : held(value) {}
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    Input(T scalar) : held{dtypeOf<T>(), 0, {{0}}} {
      std::memcpy(&held.as, &scalar, sizeof scalar);
    }
    astra_value_t get() const { return held; }

  private:
    astra_value_t held;
  };

  /// Puts a call into the stream; the results may be pending.
  Result<std::vector<Tensor>> call(const Stream &stream,
                                   Span<const Input> inputs) const {
    Result<astra_function_info_t> about = info();
    if (!about)
      return about.error();
    std::vector<astra_value_t> values;
    for (const Input &input : inputs)
      values.push_back(input.get());
    std::vector<astra_tensor_t> handles(about->output_count);
    Done done = detail::run([&](astra_error_t **error) {
      return astra_function_call(runtime(), get(), stream.get(), nullptr,
                                 values.data(), values.size(), handles.data(),
                                 handles.size(), error);
    });
    if (!done)
      return done.error();
    std::vector<Tensor> results;
    for (astra_tensor_t handle : handles)
      results.emplace_back(runtime(), handle);
    return results;
  }
  Result<std::vector<Tensor>> call(const Stream &stream,
                                   std::initializer_list<Input> inputs) const {
    return call(stream, Span<const Input>(inputs.begin(), inputs.size()));
  }

private:
  template <class Ask>
  Result<astra_value_info_t> value(size_t index, Ask how) const {
    return detail::ask<astra_value_info_t>(
        ASTRA_STRUCT_VALUE_INFO, [&](auto *info, astra_error_t **error) {
          return how(runtime(), get(), index, info, error);
        });
  }
  template <class Ask>
  Result<astra_leaf_info_t> leaf(size_t index, Ask how) const {
    return detail::ask<astra_leaf_info_t>(
        ASTRA_STRUCT_LEAF_INFO, [&](auto *info, astra_error_t **error) {
          return how(runtime(), get(), index, info, error);
        });
  }
};

class Module : public detail::Owner<astra_module_t, astra_module_release> {
public:
  using Owner::Owner;

  Result<astra_module_info_t> info() const {
    return detail::ask<astra_module_info_t>(
        ASTRA_STRUCT_MODULE_INFO, [&](auto *info, astra_error_t **error) {
          return astra_module_info(runtime(), get(), info, error);
        });
  }
  Result<astra_module_sizes_t> sizes() const {
    return detail::ask<astra_module_sizes_t>(
        ASTRA_STRUCT_MODULE_SIZES, [&](auto *sizes, astra_error_t **error) {
          return astra_module_sizes(runtime(), get(), sizes, error);
        });
  }
  Result<astra_kernel_info_t> kernel(size_t index) const {
    return detail::ask<astra_kernel_info_t>(
        ASTRA_STRUCT_KERNEL_INFO, [&](auto *info, astra_error_t **error) {
          return astra_module_kernel_info(runtime(), get(), index, info, error);
        });
  }
  Result<Function> function(const std::string &name) const {
    return detail::make<Function, astra_function_t>(
        runtime(), [&](astra_function_t *function, astra_error_t **error) {
          return astra_module_function(runtime(), get(), name.c_str(), function,
                                       error);
        });
  }
  Result<Function> function(size_t index) const {
    return detail::make<Function, astra_function_t>(
        runtime(), [&](astra_function_t *function, astra_error_t **error) {
          return astra_module_function_at(runtime(), get(), index, function,
                                          error);
        });
  }
};

/// A safetensors file, checked as a whole.
class Archive : public detail::Owner<astra_archive_t, astra_archive_release> {
public:
  using Owner::Owner;

  /// The names of the tensors, in the order of their data.
  Result<std::vector<std::string>> names() const {
    Result<size_t> count =
        detail::get<size_t>([&](size_t *count, astra_error_t **error) {
          return astra_archive_count(runtime(), get(), count, error);
        });
    if (!count)
      return count.error();
    std::vector<std::string> names;
    for (size_t i = 0; i < *count; ++i) {
      auto name = detail::get<const char *>(
          [&](const char **name, astra_error_t **error) {
            return astra_archive_name(runtime(), get(), i, name, error);
          });
      if (!name)
        return name.error();
      names.push_back(*name);
    }
    return names;
  }
  Result<Tensor> tensor(const std::string &name, const Device &device) const {
    return detail::make<Tensor, astra_tensor_t>(
        runtime(), [&](astra_tensor_t *tensor, astra_error_t **error) {
          return astra_archive_tensor(runtime(), get(), name.c_str(),
                                      device.get(), tensor, error);
        });
  }
};

/// A name and a tensor, for a file.
struct Named {
  std::string name;
  const Tensor &tensor;
};

/// What everything belongs to, so it must be the last to go: declared before
/// the other owners in a block, and the first member of a class that has them.
/// `struct Server { astra::Runtime runtime; astra::Device cpu; ... };`
class Runtime {
public:
  Runtime() = default;
  Runtime(Runtime &&other) noexcept
      : runtime(std::exchange(other.runtime, nullptr)) {}
  Runtime &operator=(Runtime &&other) noexcept {
    std::swap(runtime, other.runtime);
    return *this;
  }
  ~Runtime() { astra_runtime_destroy(runtime); }

  /// ASTRA_INIT makes options; null takes what is usual.
  static Result<Runtime>
  create(const astra_runtime_options_t *options = nullptr) {
    Runtime made;
    Done done = detail::run([&](astra_error_t **error) {
      return astra_runtime_create(options, &made.runtime, error);
    });
    if (!done)
      return done.error();
    return made;
  }

  astra_runtime_t *get() const { return runtime; }
  Result<Device> device(const std::string &name = "cpu") const {
    return detail::make<Device, astra_device_t>(
        runtime, [&](astra_device_t *device, astra_error_t **error) {
          return astra_device_open(runtime, name.c_str(), device, error);
        });
  }
  Result<Stream> stream(const Device &device, uint64_t flags = 0) const {
    astra_stream_options_t options;
    ASTRA_INIT(STREAM_OPTIONS, &options);
    options.flags = flags;
    return detail::make<Stream, astra_stream_t>(
        runtime, [&](astra_stream_t *stream, astra_error_t **error) {
          return astra_stream_create(runtime, device.get(), &options, stream,
                                     error);
        });
  }
  Result<Module> load(const std::string &path) const {
    return open(path, astra_module_load);
  }
  /// Describes a file without loading it: see astra_module_inspect.
  Result<Module> inspect(const std::string &path) const {
    return open(path, astra_module_inspect);
  }
  Result<Module> link(const astra_module_desc *descriptor) const {
    return detail::make<Module, astra_module_t>(
        runtime, [&](astra_module_t *module, astra_error_t **error) {
          return astra_module_link(runtime, descriptor, module, error);
        });
  }
  /// `flags` 0, or ASTRA_EVENT_HOST.
  Result<Event> event(uint64_t flags = 0) const {
    astra_event_options_t options;
    ASTRA_INIT(EVENT_OPTIONS, &options);
    options.flags = flags;
    return detail::make<Event, astra_event_t>(
        runtime, [&](astra_event_t *event, astra_error_t **error) {
          return astra_event_create(runtime, &options, event, error);
        });
  }
  /// Statistics of the host's memory.
  Result<astra_memory_info_t> memory() const {
    return detail::ask<astra_memory_info_t>(
        ASTRA_STRUCT_MEMORY_INFO, [&](auto *info, astra_error_t **error) {
          return astra_runtime_memory(runtime, info, error);
        });
  }
  /// Gives memory back that is kept for reuse, until `keep` bytes are left.
  Done trim(uint64_t keep = 0) const {
    return detail::run([&](astra_error_t **error) {
      return astra_runtime_trim(runtime, keep, error);
    });
  }

  /// Files: see astra/file.h. Saving waits for the tensors.
  Done saveSafetensors(const std::string &path,
                       Span<const Named> tensors) const {
    std::vector<const char *> names;
    std::vector<astra_tensor_t> handles;
    for (const Named &each : tensors) {
      names.push_back(each.name.c_str());
      handles.push_back(each.tensor.get());
    }
    return detail::run([&](astra_error_t **error) {
      return astra_safetensors_save(runtime, path.c_str(), names.data(),
                                    handles.data(), handles.size(), error);
    });
  }
  Done saveSafetensors(const std::string &path,
                       std::initializer_list<Named> tensors) const {
    return saveSafetensors(path,
                           Span<const Named>(tensors.begin(), tensors.size()));
  }
  Result<Archive> loadSafetensors(const std::string &path) const {
    return detail::make<Archive, astra_archive_t>(
        runtime, [&](astra_archive_t *archive, astra_error_t **error) {
          return astra_safetensors_load(runtime, path.c_str(), archive, error);
        });
  }
  Done saveNpy(const std::string &path, const Tensor &tensor) const {
    return detail::run([&](astra_error_t **error) {
      return astra_npy_save(runtime, path.c_str(), tensor.get(), error);
    });
  }
  Result<Tensor> loadNpy(const std::string &path, const Device &device) const {
    return detail::make<Tensor, astra_tensor_t>(
        runtime, [&](astra_tensor_t *tensor, astra_error_t **error) {
          return astra_npy_load(runtime, path.c_str(), device.get(), tensor,
                                error);
        });
  }

  /// Writes what traced streams have done: see astra_trace_save.
  Done saveTrace(const std::string &path) const {
    return detail::run([&](astra_error_t **error) {
      return astra_trace_save(runtime, path.c_str(), error);
    });
  }

private:
  template <class Open>
  Result<Module> open(const std::string &path, Open how) const {
    return detail::make<Module, astra_module_t>(
        runtime, [&](astra_module_t *module, astra_error_t **error) {
          return how(runtime, path.c_str(), module, error);
        });
  }

  astra_runtime_t *runtime = nullptr;
};

} // namespace cpp
} // namespace astra

#endif // ASTRA_ASTRA_HPP
