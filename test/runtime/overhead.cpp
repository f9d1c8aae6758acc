// What the runtime itself costs: work put in and done, calls, views, memory.
// A program to run by hand, `overhead [repetitions]`; it prints nanoseconds and
// judges nothing.
#include "astra/astra.h"
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

extern "C" const struct astra_module_desc astra_module_toy;

namespace {

void check(astra_status_t status) {
  if (status == ASTRA_OK)
    return;
  std::fprintf(stderr, "%s\n", astra_status_name(status));
  std::exit(1);
}

/// The best of many short runs, for one repetition: what else the machine does
/// leaves some of them alone.
template <class Body> void measure(const char *what, int total, Body body) {
  double best = 1e30;
  int runs = total < 5000 ? 5 : 100, count = total < 5000 ? total : total / 25;
  for (int run = 0; run < runs; ++run) {
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i)
      body(i);
    std::chrono::duration<double, std::nano> took =
        std::chrono::steady_clock::now() - begin;
    best = took.count() / count < best ? took.count() / count : best;
  }
  std::printf("%-56s %9.1f ns\n", what, best);
}

struct Fixture {
  astra_runtime_t *runtime = nullptr;
  astra_device_t cpu{0};
  astra_module_t toy{0};
  astra_function_t passes{0}, add{0};
  astra_tensor_t x{0};

  explicit Fixture(uint32_t streamThreads) {
    astra_runtime_options_t options;
    ASTRA_INIT(RUNTIME_OPTIONS, &options);
    options.stream_threads = streamThreads;
    check(astra_runtime_create(&options, &runtime, nullptr));
    check(astra_device_open(runtime, "cpu", &cpu, nullptr));
    check(astra_module_link(runtime, &astra_module_toy, &toy, nullptr));
    check(astra_module_function(runtime, toy, "passes", &passes, nullptr));
    check(astra_module_function(runtime, toy, "add", &add, nullptr));
    int64_t extent = 4;
    float data[] = {1, 2, 3, 4};
    check(astra_tensor_from_data(runtime, cpu, ASTRA_F32, 1, &extent, data,
                                 sizeof data, &x, nullptr));
  }
  ~Fixture() { astra_runtime_destroy(runtime); }

  astra_stream_t stream(uint64_t flags) {
    astra_stream_options_t options;
    ASTRA_INIT(STREAM_OPTIONS, &options);
    options.flags = flags;
    astra_stream_t made{0};
    check(astra_stream_create(runtime, cpu, &options, &made, nullptr));
    return made;
  }
  void empty(astra_stream_t on) {
    check(astra_function_call(runtime, passes, on, nullptr, nullptr, 0, nullptr,
                              0, nullptr));
  }
  void sum(astra_stream_t on) {
    astra_value_t in[] = {astra_value_of_tensor(x), astra_value_of_tensor(x)};
    astra_tensor_t out{0};
    check(astra_function_call(runtime, add, on, nullptr, in, 2, &out, 1,
                              nullptr));
    check(astra_tensor_wait(runtime, out, nullptr));
    check(astra_tensor_release(runtime, out, nullptr));
  }
};

void measureStreams(int count) {
  Fixture one(0), many(1);
  astra_stream_t inlineOne = one.stream(ASTRA_STREAM_INLINE);
  astra_stream_t manual = one.stream(ASTRA_STREAM_MANUAL);
  astra_stream_t threads = many.stream(0);
  measure("empty kernel, put in and done, inline stream", count,
          [&](int) { one.empty(inlineOne); });
  measure("empty kernel, put in and waited for, manual stream", count,
          [&](int) {
            one.empty(manual);
            check(astra_stream_wait(one.runtime, manual, nullptr));
          });
  measure("empty kernel, put in and run by hand 16 at once", count, [&](int i) {
    one.empty(manual);
    if (i % 16 == 15)
      check(
          astra_stream_run(one.runtime, manual, UINT64_MAX, nullptr, nullptr));
  });
  measure("empty kernel, put in and waited for, stream thread", count / 10,
          [&](int) {
            many.empty(threads);
            check(astra_stream_wait(many.runtime, threads, nullptr));
          });
  measure("empty kernel, a row of 16 for a stream thread", count / 10,
          [&](int i) {
            many.empty(threads);
            if (i % 16 == 15)
              check(astra_stream_wait(many.runtime, threads, nullptr));
          });
  measure("a + b of 4 elements, called, waited for, released", count,
          [&](int) { one.sum(inlineOne); });
}

void measureTensors(int count) {
  Fixture one(0);
  int64_t starts[] = {1}, extents[] = {2}, shape[] = {2, 2}, extent = 1000;
  measure("view by slice, made and released", count, [&](int) {
    astra_tensor_t view{0};
    check(astra_tensor_slice(one.runtime, one.x, starts, extents, nullptr,
                             &view, nullptr));
    check(astra_tensor_release(one.runtime, view, nullptr));
  });
  measure("view by reshape, made and released", count, [&](int) {
    astra_tensor_t view{0};
    check(astra_tensor_reshape(one.runtime, one.x, 2, shape, &view, nullptr));
    check(astra_tensor_release(one.runtime, view, nullptr));
  });
  measure("tensor of 1000 f32 from the pool, made and released", count,
          [&](int) {
            astra_tensor_t made{0};
            check(astra_tensor_empty(one.runtime, one.cpu, ASTRA_F32, 1,
                                     &extent, &made, nullptr));
            check(astra_tensor_release(one.runtime, made, nullptr));
          });
  std::vector<astra_tensor_t> views(size_t(count), astra_tensor_t{0});
  measure("many views made, then all released", 1, [&](int) {
    for (astra_tensor_t &view : views)
      check(astra_tensor_slice(one.runtime, one.x, starts, extents, nullptr,
                               &view, nullptr));
    for (astra_tensor_t view : views)
      check(astra_tensor_release(one.runtime, view, nullptr));
  });
  std::printf("%-56s %9d views\n", "  (all of them)", count);
}

} // namespace

int main(int argc, char **argv) {
  int count = argc > 1 ? std::atoi(argv[1]) : 200000;
  measureStreams(count);
  measureTensors(count);
  return 0;
}
