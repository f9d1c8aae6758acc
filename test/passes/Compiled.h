// For tests: `astra` dialect text compiled to a loadable module and loaded
// through the C API. Knows the public interfaces only.
#ifndef ASTRA_TEST_PASSES_COMPILED_H
#define ASTRA_TEST_PASSES_COMPILED_H

#include "astra/astra.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

/// A tensor of a test: dense, row-major.
template <typename T> struct Array {
  std::vector<int64_t> shape;
  std::vector<T> elements;
};

class Compiled {
public:
  /// `allocator`: of the runtime, or null for the system's.
  explicit Compiled(llvm::StringRef text,
                    const astra_allocator_t *allocator = nullptr);
  ~Compiled();
  Compiled(const Compiled &) = delete;

  bool good() const { return error.empty(); }
  /// What went wrong, of compiling or of the last call; "" if nothing.
  std::string error;

  template <typename T> Compiled &give(uint32_t dtype, const Array<T> &array) {
    add(dtype, array.shape, array.elements.data(),
        array.elements.size() * sizeof(T));
    return *this;
  }
  Compiled &give(const Array<float> &array) { return give(ASTRA_F32, array); }
  Compiled &give(float scalar) {
    inputs.push_back(astra_value_of_f32(scalar));
    return *this;
  }
  Compiled &give(int64_t scalar) {
    inputs.push_back(astra_value_of_i64(scalar));
    return *this;
  }
  Compiled &giveTensor(astra_tensor_t tensor) {
    inputs.push_back(astra_value_of_tensor(tensor));
    tensors.push_back(tensor);
    return *this;
  }
  /// Calls with what was given, and waits.
  bool call(const char *name);
  template <typename T> std::vector<T> get(size_t index) {
    std::vector<T> elements(count(index));
    read(index, elements.data(), elements.size() * sizeof(T));
    return elements;
  }
  std::vector<int64_t> getShape(size_t index);

  astra_runtime_t *runtime = nullptr;
  astra_device_t device = {0};
  astra_stream_t stream = {0};
  astra_module_t module = {0};
  std::vector<char> object, loadable;

private:
  bool check(astra_status_t status, astra_error_t *failure);
  void add(uint32_t dtype, const std::vector<int64_t> &shape, const void *data,
           size_t bytes);
  size_t count(size_t index);
  void read(size_t index, void *data, size_t bytes);
  void load(const std::string &path, const astra_allocator_t *allocator);

  std::vector<astra_value_t> inputs;
  std::vector<astra_tensor_t> outputs, tensors;
};

/// The same without loading: the object's bytes ("" and `error` on failure).
std::string compileObject(llvm::StringRef text, bool loadable,
                          std::string &error);
/// Links the object's bytes to a loadable module.
std::string linkModule(const std::string &object, std::string &error);

#endif // ASTRA_TEST_PASSES_COMPILED_H
