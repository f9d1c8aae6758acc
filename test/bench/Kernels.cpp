// Times kernels of the table by themselves, each beside what the core can do
// at most: products beside independent fma chains, all else beside a copy of as
// many bytes. Both are measured in this process in turns with the kernel, and
// what is printed are medians, so that a machine that is busy or changes its
// clock does not tell lies about a ratio.
#include "kernels/Registry.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

using Shape = std::vector<int64_t>;
using Clock = std::chrono::steady_clock;

struct Options {
  uint32_t level = ASTRA_ISA_X86_64_V4;
  int threads = 1;
  double seconds = 0.2; // for each row
  std::string only;
};

//===-- A call with threads -----------------------------------------------===//

/// Cuts work for threads that are started for each piece of it: what is timed
/// with more than one thread should be long.
struct Services {
  explicit Services(int threads) : threads(threads) {
    api.struct_size = sizeof(api);
    api.parallel_for = parallelFor;
    api.scratch = [](const astra_call_t *, int64_t bytes) {
      return take(size_t(bytes));
    };
    api.scratch_free = [](const astra_call_t *, void *memory) { give(memory); };
    api.fail = [](const astra_call_t *, int32_t code, const char *) {
      return astra_outcome_t(code);
    };
    call.struct_size = sizeof(call);
    call.api = &api;
    call.state = this;
  }

  /// Scratch memory is used again, as the runtime does it.
  struct Slot {
    void *memory;
    size_t size;
    bool used;
  };
  static std::vector<Slot> &slots() {
    static thread_local std::vector<Slot> list;
    return list;
  }
  static void *take(size_t bytes) {
    for (Slot &slot : slots())
      if (!slot.used && slot.size >= bytes && slot.size <= 2 * bytes + 4096) {
        slot.used = true;
        return slot.memory;
      }
    size_t size = (bytes + 4096) / 64 * 64;
    slots().push_back({std::aligned_alloc(64, size), size, true});
    return slots().back().memory;
  }
  static void give(void *memory) {
    for (Slot &slot : slots())
      if (slot.memory == memory)
        slot.used = false;
  }

  static void parallelFor(const astra_call_t *call, int64_t count,
                          int64_t grain, astra_range_fn fn, void *context) {
    int threads = static_cast<Services *>(call->state)->threads;
    int64_t piece = (count / (4 * threads) + grain) / grain * grain;
    std::atomic<int64_t> next{0};
    auto work = [&] {
      for (int64_t begin; (begin = next.fetch_add(piece)) < count;)
        fn(context, begin, std::min(begin + piece, count));
    };
    std::vector<std::thread> others;
    for (int i = 1; i < threads && count > piece; ++i)
      others.emplace_back(work);
    work();
    for (std::thread &other : others)
      other.join();
  }

  astra_call_api_t api = {};
  astra_call_t call = {};
  int threads;
};

//===-- What the core can do ----------------------------------------------===//

template <class C, int Bytes> struct Chains {
  typedef C Vector __attribute__((ext_vector_type(Bytes / sizeof(C))));
};

/// Floating-point operations in `rounds` steps of independent fma chains.
#define ASTRA_BENCH_FMA(name, bytes, count, ...)                               \
  template <class C> __VA_ARGS__ double name(int64_t rounds) {                 \
    using Vector = typename Chains<C, bytes>::Vector;                          \
    Vector chains[count], factor = Vector(C(0.999)), sum = factor;             \
    _Pragma("clang loop unroll(full)") for (int c = 0; c < count; ++c)         \
        chains[c] = Vector(C(c));                                              \
    for (int64_t i = 0; i < rounds; ++i)                                       \
      _Pragma("clang loop unroll(full)") for (int c = 0; c < count; ++c)       \
          chains[c] = __builtin_elementwise_fma(chains[c], factor, factor);    \
    _Pragma("clang loop unroll(full)") for (int c = 0; c < count; ++c) sum +=  \
        chains[c];                                                             \
    volatile C sink = sum[0];                                                  \
    (void)sink;                                                                \
    return 2.0 * double(count) * double(bytes / sizeof(C)) * double(rounds);   \
  }
#if defined(__x86_64__)
ASTRA_BENCH_FMA(chains512, 64, 12, __attribute__((target("avx512f"))))
ASTRA_BENCH_FMA(chains256, 32, 12, __attribute__((target("avx2,fma"))))
#else
ASTRA_BENCH_FMA(chains128, 16, 12)
#endif

double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Operations a second of one core.
template <class C> double peak(uint32_t level) {
  auto begin = Clock::now();
  constexpr int64_t rounds = 20000;
  double operations;
#if defined(__x86_64__)
  operations = level == ASTRA_ISA_X86_64_V4 ? chains512<C>(rounds)
                                            : chains256<C>(rounds);
#else
  (void)level;
  operations = chains128<C>(rounds);
#endif
  return operations / secondsSince(begin);
}

/// Bytes a second of one core's copies, read and written.
double copyRate(size_t bytes) {
  static std::vector<char> from, to;
  from.resize(std::max(from.size(), bytes), 1);
  to.resize(std::max(to.size(), bytes));
  auto begin = Clock::now();
  size_t done = 0;
  do {
    std::memcpy(to.data(), from.data(), bytes);
    done += 2 * bytes;
  } while (secondsSince(begin) < 0.0005);
  return double(done) / secondsSince(begin);
}

//===-- Rows --------------------------------------------------------------===//

struct Operand {
  Shape shape, strides;
};

/// What is timed: a kernel with operands, and how much work it is: operations
/// of fma chains, or bytes.
struct Row {
  std::string kernel, what;
  std::vector<Operand> operands;
  Shape params;
  double operations, bytes;
};

Operand dense(Shape shape) {
  Shape strides(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0; stride *= shape[d])
    strides[d] = stride;
  return {shape, strides};
}

/// A matrix for each of a batch, stored as its transpose or not.
Operand matrix(int64_t batch, int64_t rows, int64_t columns, bool transposed) {
  return {{batch, rows, columns},
          {rows * columns, transposed ? 1 : columns, transposed ? rows : 1}};
}

Row product(const char *type, int64_t m, int64_t k, int64_t n,
            const char *order = "nn", int64_t batch = 1) {
  char what[80];
  std::snprintf(what, sizeof(what), "[%d,%d,%d]x[%d,%d,%d] %s", int(batch),
                int(m), int(k), int(batch), int(k), int(n), order);
  return {std::string("contract_") + type,
          what,
          {matrix(batch, m, k, order[0] == 't'),
           matrix(batch, k, n, order[1] == 't'), matrix(batch, m, n, false)},
          {1, 1},
          2.0 * double(batch) * double(m) * double(n) * double(k),
          0};
}

size_t sizeOfType(const std::string &kernel) {
  std::string type = kernel.substr(kernel.rfind('_') + 1);
  size_t bits =
      size_t(std::atoi(type.c_str() + type.find_first_of("0123456789")));
  return bits / 8;
}

Row moved(const std::string &kernel, std::vector<Operand> operands,
          Shape params, const char *what) {
  double bytes = 0;
  for (const Operand &operand : operands) {
    double size = double(sizeOfType(kernel));
    for (int64_t extent : operand.shape)
      size *= double(extent);
    bytes += size;
  }
  return {kernel, what, std::move(operands), std::move(params), 0, bytes};
}

Row attention(int64_t batch, int64_t length, int64_t width, bool causal) {
  Operand x = dense({batch, length, width});
  double pairs = double(batch) * double(length) * double(length);
  return {"attention_f32",
          std::string("[") + std::to_string(batch) + "," +
              std::to_string(length) + "," + std::to_string(width) + "]" +
              (causal ? " causal" : ""),
          {x, x, x, x, dense({batch, length})},
          {0, causal, 0, 0},
          (causal ? 2.0 : 4.0) * pairs * double(width),
          0};
}

std::vector<Row> rows() {
  std::vector<Row> list;
  for (const char *order : {"nn", "nt", "tn", "tt"})
    list.push_back(product("f32", 1024, 1024, 1024, order));
  list.push_back(product("f32", 2048, 2048, 2048));
  for (const char *type : {"f64", "bf16", "f16", "i64", "i32", "i8"})
    list.push_back(product(type, 512, 512, 512));
  for (int64_t m : {1, 2, 4, 8, 16, 32, 64})
    for (const char *order : {"nn", "nt"})
      list.push_back(product("f32", m, 1024, 1024, order));
  list.push_back(product("f32", 1024, 1024, 1));
  list.push_back(product("f32", 1024, 1024, 1, "tn"));
  list.push_back(product("f32", 256, 1024, 10));
  for (int64_t size : {16, 32, 64, 128, 256})
    list.push_back(product("f32", size, size, size));
  list.push_back(product("f32", 1, 64, 32));
  list.push_back(product("f32", 64, 64, 32));
  list.push_back(product("f32", 64, 64, 64, "nt", 64));
  list.push_back(attention(64, 512, 64, false));
  list.push_back(attention(64, 512, 64, true));
  Operand wide = dense({4096, 1024}), line = dense({4096 * 1024});
  list.push_back(moved("copy_b32", {line, line}, {}, "4M, as it lies"));
  list.push_back(moved("sum_f32", {line, dense({})}, {1, 0}, "of 4M"));
  list.push_back(moved("sum_f32", {wide, dense({1024})}, {1, 0}, "of columns"));
  list.push_back(moved("sum_f32", {wide, dense({4096})}, {1, 1}, "of rows"));
  list.push_back(moved("softmax_f32", {wide, wide}, {1}, "of rows"));
  for (const char *name : {"exp", "log", "tanh", "sigmoid", "gelu", "erf"})
    list.push_back(moved(std::string(name) + "_f32", {line, line}, {}, "4M"));
  return list;
}

//===-- Timing ------------------------------------------------------------===//

/// The kernel that the runtime would take at a level.
astra_kernel_fn find(const std::string &name, uint32_t level) {
  const astra_kernel_entry *best = nullptr;
  for (uint64_t i = 0; i < astra_kernel_table_size; ++i) {
    const astra_kernel_entry &entry = astra_kernel_table[i];
    if (name == entry.name && entry.isa_level <= level &&
        (!best || entry.isa_level > best->isa_level))
      best = &entry;
  }
  return best ? best->fn : nullptr;
}

/// Memory of a row's operands, filled with tame values of the type.
class Memory {
public:
  explicit Memory(const Row &row) {
    size_t size = sizeOfType(row.kernel);
    for (const Operand &operand : row.operands) {
      int64_t count = 1;
      for (int64_t extent : operand.shape)
        count *= extent;
      size_t bytes = (size_t(count) * size + 127) / 64 * 64;
      void *data = std::aligned_alloc(64, bytes);
      std::memset(data, 0, bytes);
      blocks.push_back(data);
      if (row.kernel.find("_f32") != std::string::npos)
        for (int64_t i = 0; i < count; ++i)
          static_cast<float *>(data)[i] =
              float((i * 7919) % 1000) * 1e-3f + 0.1f;
      args.push_back({data, operand.shape.data(), operand.strides.data(), 0,
                      uint32_t(operand.shape.size())});
    }
  }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  ~Memory() {
    for (void *block : blocks)
      std::free(block);
  }
  std::vector<astra_arg_t> args;

private:
  std::vector<void *> blocks;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Prints a row; false if the kernel failed.
bool time(const Row &row, const Options &options) {
  astra_kernel_fn kernel = find(row.kernel, options.level);
  Services services(options.threads);
  Memory memory(row);
  auto run = [&] {
    return kernel(&services.call, memory.args.data(), row.params.data());
  };
  if (!kernel || run() != ASTRA_OK)
    return false;
  std::vector<double> times, ratios;
  for (auto begin = Clock::now();
       times.size() < 5 || secondsSince(begin) < options.seconds;) {
    int64_t calls = 0;
    auto start = Clock::now();
    do {
      run();
      ++calls;
    } while (secondsSince(start) < 0.0005);
    times.push_back(secondsSince(start) / double(calls));
    double best = row.bytes ? copyRate(size_t(row.bytes / 2))
                  : sizeOfType(row.kernel) == 8 ? peak<double>(options.level)
                                                : peak<float>(options.level);
    double work = row.bytes ? row.bytes : row.operations;
    ratios.push_back(work / times.back() / best / options.threads);
  }
  double seconds = median(times);
  std::printf("%-14s %-32s %10.2f us %8.1f %s  %5.2f of %s\n",
              row.kernel.c_str(), row.what.c_str(), seconds * 1e6,
              (row.bytes ? row.bytes : row.operations) / seconds * 1e-9,
              row.bytes ? "GB/s  " : "GFLOP/s", median(ratios),
              row.bytes ? "copying" : "the fma peak");
  std::fflush(stdout);
  return true;
}

int usage() {
  std::fprintf(stderr,
               "Usage: kernel-bench [--level v3|v4] [--threads N] "
               "[--seconds S] [--only TEXT]\nTimes kernels beside the fma peak "
               "or the copies of this machine, measured in turns.\nRatios are "
               "for each thread.\n");
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("x86-64-v4"))
    options.level = ASTRA_ISA_X86_64_V3;
#else
  options.level = ASTRA_ISA_REF;
#endif
  for (int i = 1; i < argc; ++i) {
    std::string option = argv[i], value = ++i < argc ? argv[i] : "";
    if (option == "--level" && (value == "v3" || value == "v4"))
      options.level = value == "v3" ? ASTRA_ISA_X86_64_V3 : ASTRA_ISA_X86_64_V4;
    else if (option == "--threads" && std::atoi(value.c_str()) > 0)
      options.threads = std::atoi(value.c_str());
    else if (option == "--seconds" && std::atof(value.c_str()) > 0)
      options.seconds = std::atof(value.c_str());
    else if (option == "--only" && !value.empty())
      options.only = value;
    else
      return usage();
  }
  bool good = true, any = false;
  for (const Row &row : rows())
    if ((row.kernel + " " + row.what).find(options.only) != std::string::npos) {
      good &= time(row, options);
      any = true;
    }
  if (!any)
    std::fprintf(stderr, "kernel-bench: no kernel has `%s` in its name\n",
                 options.only.c_str());
  return good && any ? 0 : 1;
}
