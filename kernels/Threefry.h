// The Threefry-2x32 block function: 20 rounds of add, rotate and exclusive or,
// with the key injected after every fourth.
#ifndef ASTRA_KERNELS_THREEFRY_H
#define ASTRA_KERNELS_THREEFRY_H

#include "kernels/Isa.h"

ASTRA_KERNELS_BEGIN

struct Pair32 {
  uint32_t first, second;
};

inline Pair32 threefry(Pair32 key, uint64_t counter) {
  constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t keys[3] = {key.first, key.second,
                            key.first ^ key.second ^ 0x1bd11bdau};
  uint32_t x = uint32_t(counter >> 32) + keys[0];
  uint32_t y = uint32_t(counter) + keys[1];
  for (uint32_t group = 0; group < 5; ++group) {
    for (int rotation : rotations[group % 2]) {
      x += y;
      y = (y << rotation | y >> (32 - rotation)) ^ x;
    }
    x += keys[(group + 1) % 3];
    y += keys[(group + 2) % 3] + group + 1;
  }
  return {x, y};
}

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_THREEFRY_H
