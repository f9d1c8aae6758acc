// Support for tests of kernels: a call whose services are simple and hostile
// (work is cut in odd pieces and run backwards, scratch memory is filled with
// rubbish), tensors with any strides, and the table's kernels by name.
#ifndef ASTRA_TEST_KERNELS_KERNELTESTING_H
#define ASTRA_TEST_KERNELS_KERNELTESTING_H

#include "astra/base.h"
#include "kernels/Registry.h"
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace astra {
namespace testing {

/// The kernel of a name for an instruction set, or null.
inline astra_kernel_fn kernelFor(const std::string &name, uint32_t isa) {
  for (uint64_t i = 0; i < astra_kernel_table_size; ++i)
    if (name == astra_kernel_table[i].name &&
        isa == astra_kernel_table[i].isa_level)
      return astra_kernel_table[i].fn;
  return nullptr;
}

inline bool processorHas(uint32_t isa) {
  if (isa == ASTRA_ISA_REF)
    return true;
#if defined(__aarch64__)
  return isa == ASTRA_ISA_NEON;
#else
  if (isa == ASTRA_ISA_X86_64_V3)
    return __builtin_cpu_supports("x86-64-v3");
  return isa == ASTRA_ISA_X86_64_V4 && __builtin_cpu_supports("x86-64-v4");
#endif
}

/// The levels with optimised kernels of this architecture.
inline std::vector<uint32_t> optimisedLevels() {
#if defined(__aarch64__)
  return {ASTRA_ISA_NEON};
#else
  return {ASTRA_ISA_X86_64_V3, ASTRA_ISA_X86_64_V4};
#endif
}

/// Those, and `ref`.
inline std::vector<uint32_t> allLevels() {
  std::vector<uint32_t> levels = optimisedLevels();
  levels.insert(levels.begin(), ASTRA_ISA_REF);
  return levels;
}

/// "v3": for names of tests.
inline std::string levelName(uint32_t isa) {
  return isa == ASTRA_ISA_NEON ? "neon" : "v" + std::to_string(isa);
}

class TestCall {
public:
  TestCall() {
    api.struct_size = sizeof(api);
    api.parallel_for = parallelFor;
    api.scratch = scratch;
    api.scratch_free = [](const astra_call_t *, void *memory) {
      std::free(memory);
    };
    api.fail = fail;
    call.struct_size = sizeof(call);
    call.api = &api;
    call.state = this;
  }

  astra_outcome_t run(const std::string &name,
                      const std::vector<astra_arg_t> &args,
                      const std::vector<int64_t> &params = {},
                      uint32_t isa = ASTRA_ISA_REF) {
    astra_kernel_fn fn = kernelFor(name, isa);
    if (!fn) {
      message = "no such kernel: " + name;
      return ASTRA_ERROR_MISSING_KERNEL;
    }
    message.clear();
    return fn(&call, args.data(), params.data());
  }

  std::string message; // of the last failure
  int64_t piece = 3;   // grains in a piece of parallel work
  int64_t threads = 1; // that do the pieces at the same time

private:
  static TestCall &self(const astra_call_t *call) {
    return *static_cast<TestCall *>(call->state);
  }
  static void parallelFor(const astra_call_t *call, int64_t count,
                          int64_t grain, astra_range_fn fn, void *context) {
    int64_t size = grain * self(call).piece, threads = self(call).threads;
    auto run = [=](int64_t first) {
      int64_t begin = (count - 1) / size * size - first * size;
      for (; begin >= 0; begin -= threads * size)
        fn(context, begin, begin + size < count ? begin + size : count);
    };
    std::vector<std::thread> others;
    for (int64_t first = 1; first < threads; ++first)
      others.emplace_back(run, first);
    run(0);
    for (std::thread &other : others)
      other.join();
  }
  static void *scratch(const astra_call_t *, int64_t bytes) {
    size_t size = (size_t(bytes) + 64) / 64 * 64;
    void *memory = std::aligned_alloc(64, size);
    std::memset(memory, 0xa5, size);
    return memory;
  }
  static astra_outcome_t fail(const astra_call_t *call, int32_t code,
                              const char *text) {
    self(call).message = text;
    return code;
  }

  astra_call_api_t api = {};
  astra_call_t call = {};
};

/// A tensor in its own memory, row-major unless told otherwise. The memory ends
/// with the last element, so that reads beyond it are seen by a sanitizer.
template <class T> struct Tensor {
  std::vector<int64_t> shape, strides;
  std::vector<T> data;
  int64_t origin = 0;

  Tensor() = default;
  explicit Tensor(std::vector<int64_t> shape_) : shape(std::move(shape_)) {
    strides.assign(shape.size(), 1);
    for (size_t d = shape.size(); d-- > 1;)
      strides[d - 1] = strides[d] * shape[d];
    data.resize(size_t(size()));
  }
  Tensor(std::vector<int64_t> shape_, std::vector<T> values)
      : Tensor(std::move(shape_)) {
    data = std::move(values);
  }

  int64_t size() const {
    int64_t n = 1;
    for (int64_t extent : shape)
      n *= extent;
    return n;
  }
  astra_arg_t arg() const {
    return {const_cast<T *>(data.data()) + origin, shape.data(), strides.data(),
            0, uint32_t(shape.size())};
  }
};

} // namespace testing
} // namespace astra

#endif // ASTRA_TEST_KERNELS_KERNELTESTING_H
