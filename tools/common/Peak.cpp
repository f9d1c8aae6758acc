// See Peak.h. The best of several tries counts: whatever else the machine does
// only makes one slower.
#include "tools/common/Peak.h"
#include "astra/astra.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace astra {
namespace {

constexpr int copyTries = 12, flopTries = 60;
constexpr size_t copyBytes = size_t(64) << 20;
constexpr int chains = 12; // enough to hide the latency of two units
constexpr int64_t rounds = 400000;

/// Has a result worked out that nobody uses.
template <class T> void use(const T &value) { asm volatile("" : : "m"(value)); }

#if defined(__x86_64__)
__attribute__((target("avx512f"))) int64_t multiplyAdd512() {
  __m512 sums[chains];
  __m512 factor = _mm512_set1_ps(0.999f), term = _mm512_set1_ps(0.001f);
  for (int k = 0; k < chains; ++k)
    sums[k] = _mm512_set1_ps(float(k)); // none is another
  for (int64_t i = 0; i < rounds; ++i)
    for (__m512 &sum : sums)
      sum = _mm512_fmadd_ps(sum, factor, term);
  __m512 all = sums[0];
  for (int k = 1; k < chains; ++k)
    all = _mm512_add_ps(all, sums[k]);
  use(all);
  return 16;
}

__attribute__((target("avx2,fma"))) int64_t multiplyAdd256() {
  __m256 sums[chains];
  __m256 factor = _mm256_set1_ps(0.999f), term = _mm256_set1_ps(0.001f);
  for (int k = 0; k < chains; ++k)
    sums[k] = _mm256_set1_ps(float(k)); // none is another
  for (int64_t i = 0; i < rounds; ++i)
    for (__m256 &sum : sums)
      sum = _mm256_fmadd_ps(sum, factor, term);
  __m256 all = sums[0];
  for (int k = 1; k < chains; ++k)
    all = _mm256_add_ps(all, sums[k]);
  use(all);
  return 8;
}

int64_t multiplyAdd() {
  return astra_cpu_level() == ASTRA_CPU_X86_64_V4 ? multiplyAdd512()
                                                  : multiplyAdd256();
}
#else
int64_t multiplyAdd() {
  constexpr int lanes = 4;
  float sums[chains][lanes];
  for (int k = 0; k < chains * lanes; ++k)
    sums[k / lanes][k % lanes] = float(k);
  for (int64_t i = 0; i < rounds; ++i)
    for (auto &sum : sums)
      for (float &lane : sum)
        lane = __builtin_fmaf(lane, 0.999f, 0.001f);
  float all = 0;
  for (auto &sum : sums)
    for (float lane : sum)
      all += lane;
  use(all);
  return lanes;
}
#endif

/// Runs `work(thread)` on all threads at once; the nanoseconds that it takes.
template <class Work> double timeOf(unsigned threads, Work work) {
  auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> others;
  for (unsigned t = 1; t < threads; ++t)
    others.emplace_back(work, t);
  work(0);
  for (std::thread &other : others)
    other.join();
  std::chrono::duration<double, std::nano> time =
      std::chrono::steady_clock::now() - start;
  return time.count();
}

double measureCopy(unsigned threads) {
  std::unique_ptr<char[]> from(new char[copyBytes]), to(new char[copyBytes]);
  std::memset(from.get(), 1, copyBytes);
  std::memset(to.get(), 2, copyBytes);
  size_t part = copyBytes / threads;
  double best = 0;
  for (int i = 0; i < copyTries; ++i) {
    double time = timeOf(threads, [&](unsigned t) {
      std::memcpy(to.get() + t * part, from.get() + t * part, part);
    });
    best = std::max(best, 2.0 * double(part * threads) / time);
  }
  return best;
}

double measureFlops(unsigned threads) {
  double best = 0;
  for (int i = 0; i < flopTries; ++i) {
    std::atomic<int64_t> lanes{0};
    double time = timeOf(threads, [&](unsigned) { lanes = multiplyAdd(); });
    best =
        std::max(best, 2.0 * double(lanes * chains * rounds) * threads / time);
  }
  return best;
}

} // namespace

Peak measurePeak(unsigned threads) {
  Peak peak;
  // More threads than run at once only take turns.
  unsigned most = std::max(std::thread::hardware_concurrency(), 1u);
  peak.threads = std::clamp(threads, 1u, most);
  peak.bytes = measureCopy(peak.threads);
  peak.flops = measureFlops(peak.threads);
  return peak;
}

} // namespace astra
