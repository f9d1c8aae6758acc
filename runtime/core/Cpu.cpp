// Levels and floating-point state for x86-64 and Arm; see Cpu.h.
#include "core/Cpu.h"
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace astra {
namespace {

struct LevelName {
  uint32_t level;
  const char *name;
};
constexpr LevelName levelNames[] = {{ASTRA_CPU_REFERENCE, "reference"},
                                    {ASTRA_CPU_X86_64_V3, "x86-64-v3"},
                                    {ASTRA_CPU_X86_64_V4, "x86-64-v4"},
                                    {ASTRA_CPU_NEON, "aarch64-neon"}};

#if defined(__x86_64__)
constexpr uint32_t bit(unsigned index) { return 1u << index; }

struct Features {
  uint32_t ecx1, ebx7, ecxExtended, xcr0;
};

Features readFeatures() {
  uint32_t a = 0, b = 0, c = 0, d = 0;
  Features features{};
  if (!__get_cpuid(1, &a, &b, &c, &d))
    return features;
  features.ecx1 = c;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d))
    features.ebx7 = b;
  if (__get_cpuid(0x80000001, &a, &b, &c, &d))
    features.ecxExtended = c;
  if (features.ecx1 & bit(27)) { // OSXSAVE
    uint32_t low = 0, high = 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    features.xcr0 = low;
  }
  return features;
}
#endif

} // namespace

#if defined(__x86_64__)
uint32_t detectCpuLevel() {
  Features f = readFeatures();
  // SSE3, SSSE3, FMA, CX16, SSE4.1, SSE4.2, MOVBE, POPCNT, AVX, F16C.
  constexpr uint32_t ecx1 = bit(0) | bit(9) | bit(12) | bit(13) | bit(19) |
                            bit(20) | bit(22) | bit(23) | bit(28) | bit(29);
  constexpr uint32_t ebx7 = bit(3) | bit(5) | bit(8); // BMI1, AVX2, BMI2
  constexpr uint32_t ecxExtended = bit(0) | bit(5);   // LAHF, LZCNT
  constexpr uint32_t avxState = bit(1) | bit(2);      // XMM, YMM
  bool v3 = (f.ecx1 & ecx1) == ecx1 && (f.ebx7 & ebx7) == ebx7 &&
            (f.ecxExtended & ecxExtended) == ecxExtended &&
            (f.xcr0 & avxState) == avxState;
  if (!v3)
    return ASTRA_CPU_REFERENCE;
  // AVX-512 F, DQ, CD, BW, VL, and the system saving its registers.
  constexpr uint32_t avx512 = bit(16) | bit(17) | bit(28) | bit(30) | bit(31);
  constexpr uint32_t avx512State = bit(5) | bit(6) | bit(7);
  bool v4 =
      (f.ebx7 & avx512) == avx512 && (f.xcr0 & avx512State) == avx512State;
  return v4 ? ASTRA_CPU_X86_64_V4 : ASTRA_CPU_X86_64_V3;
}

FpScope::FpScope() : saved(_mm_getcsr()) { _mm_setcsr(0x1f80); }
FpScope::~FpScope() { _mm_setcsr(uint32_t(saved)); }
void pauseInLoop() { _mm_pause(); }
#elif defined(__aarch64__)
uint32_t detectCpuLevel() { return ASTRA_CPU_NEON; }

FpScope::FpScope() {
  __asm__ volatile("mrs %0, fpcr" : "=r"(saved));
  __asm__ volatile("msr fpcr, %0" : : "r"(uint64_t(0)));
}
FpScope::~FpScope() { __asm__ volatile("msr fpcr, %0" : : "r"(saved)); }
void pauseInLoop() { __asm__ volatile("yield"); }
#else
#error "Astra's runtime knows x86-64 and Arm 64"
#endif

bool hasCpuLevel(uint32_t level) {
  if (level == ASTRA_CPU_REFERENCE)
    return true;
#if defined(__aarch64__)
  return level == ASTRA_CPU_NEON;
#else
  return level >= ASTRA_CPU_X86_64_V3 && level <= detectCpuLevel();
#endif
}

uint32_t cpuLevelOfName(const std::string &name) {
  for (const LevelName &row : levelNames) {
    if (name == row.name)
      return row.level;
  }
  return 0;
}

} // namespace astra

uint32_t astra_cpu_level(void) { return astra::detectCpuLevel(); }

const char *astra_cpu_level_name(uint32_t level) {
  for (const astra::LevelName &row : astra::levelNames) {
    if (level == row.level)
      return row.name;
  }
  return "unknown";
}
