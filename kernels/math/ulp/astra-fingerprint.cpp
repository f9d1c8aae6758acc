// astra-fingerprint: prints, for every elementary function, a number made of
// the bits of all its results (float of one argument: all 2^32; else 2^26
// arguments). Compiled as CUDA (nvcc -fmad=false -x cu) it runs on the device;
// the output must be the same.
//
// Usage: astra-fingerprint [NAME...]
#include "kernels/math/Elementary.h"
#include "kernels/math/ulp/Fingerprint.h"

#include <cstdio>
#include <cstring>
#ifndef __CUDACC__
#include <thread>
#include <vector>
#endif

using namespace astra;
using namespace astra::ulp;

namespace {

#define ASTRA_UNARY(name, implementation)                                      \
  struct name##_function {                                                     \
    static constexpr bool Two = false;                                         \
    template <class T> ASTRA_MATH_FN T call(T x, T) { return math::name(x); }  \
  };
#define ASTRA_BINARY(name, implementation)                                     \
  struct name##_function {                                                     \
    static constexpr bool Two = true;                                          \
    template <class T> ASTRA_MATH_FN T call(T x, T y) {                        \
      return math::name(x, y);                                                 \
    }                                                                          \
  };
#define ASTRA_ORDERED(name, implementation)                                    \
  struct name##_function {                                                     \
    static constexpr bool Two = true;                                          \
    template <class T> ASTRA_MATH_FN T call(T x, T y) {                        \
      return math::name(x, int64_t(math::toBits(y) % 6));                      \
    }                                                                          \
  };
#include "kernels/math/Elementary.def"

template <class Function, class T> uint64_t count() {
  return sizeof(T) == 4 && !Function::Two ? AllSingles : SampledArguments;
}

/// Functions of two take both arguments from mixed indices (functions with an
/// order take that from the second).
template <class Function, class T>
ASTRA_MATH_FN uint64_t shareOf(uint64_t index) {
  uint64_t first = Function::Two ? mix(index) : index;
  T x = argument(first, T(0)), y = argument(mix(first), T(0));
  return share(index, Function::template call<T>(x, y));
}

#ifdef __CUDACC__

template <class Function, class T>
__global__ void sum(uint64_t count, unsigned long long *total) {
  unsigned long long own = 0;
  uint64_t step = uint64_t(gridDim.x) * blockDim.x;
  for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step)
    own += shareOf<Function, T>(i);
  atomicAdd(total, own);
}

template <class Function, class T> uint64_t fingerprint() {
  unsigned long long *total, result = 0;
  cudaMalloc(&total, sizeof *total);
  cudaMemset(total, 0, sizeof *total);
  sum<Function, T><<<1056, 256>>>(count<Function, T>(), total);
  cudaMemcpy(&result, total, sizeof result, cudaMemcpyDeviceToHost);
  cudaFree(total);
  if (cudaError_t error = cudaGetLastError())
    fprintf(stderr, "astra-fingerprint: %s\n", cudaGetErrorString(error));
  return result;
}

#else

template <class Function, class T>
void sumRange(uint64_t begin, uint64_t end, uint64_t *total) {
  uint64_t own = 0;
  for (uint64_t i = begin; i < end; ++i)
    own += shareOf<Function, T>(i);
  *total = own;
}

template <class Function, class T> uint64_t fingerprint() {
  unsigned jobs = std::max(1u, std::thread::hardware_concurrency());
  std::vector<uint64_t> totals(jobs);
  std::vector<std::thread> threads;
  uint64_t all = count<Function, T>(), part = all / jobs + 1;
  for (unsigned j = 0; j < jobs; ++j)
    threads.emplace_back(sumRange<Function, T>, std::min(all, j * part),
                         std::min(all, (j + 1) * part), &totals[j]);
  uint64_t total = 0;
  for (unsigned j = 0; j < jobs; ++j) {
    threads[j].join();
    total += totals[j];
  }
  return total;
}

#endif

template <class Function> void print(const char *name) {
  printf("%-12s f32 %016llx  f64 %016llx\n", name,
         (unsigned long long)fingerprint<Function, float>(),
         (unsigned long long)fingerprint<Function, double>());
  fflush(stdout);
}

const struct Row {
  const char *name;
  void (*print)(const char *name);
} rows[] = {
#define ASTRA_UNARY(name, implementation) {#name, print<name##_function>},
#define ASTRA_BINARY(name, implementation) {#name, print<name##_function>},
#define ASTRA_ORDERED(name, implementation) {#name, print<name##_function>},
#include "kernels/math/Elementary.def"
};

void printUsage(FILE *to) {
  fprintf(to, "usage: astra-fingerprint [NAME...]\n"
              "One number for all results of each function, f32 and f64, half "
              "a minute a function\non one core. Functions:");
  for (const Row &row : rows)
    fprintf(to, " %s", row.name);
  fprintf(to, "\n");
}

bool isFunction(const char *word) {
  for (const Row &row : rows)
    if (strcmp(row.name, word) == 0)
      return true;
  return false;
}

} // namespace

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--help") == 0)
      return printUsage(stdout), 0;
    if (!isFunction(argv[i])) {
      fprintf(stderr, "astra-fingerprint: `%s` is no function\n", argv[i]);
      return printUsage(stderr), 2;
    }
  }
  for (const Row &row : rows) {
    bool wanted = argc < 2;
    for (int i = 1; i < argc; ++i)
      wanted |= strcmp(argv[i], row.name) == 0;
    if (wanted)
      row.print(row.name);
  }
  return 0;
}
