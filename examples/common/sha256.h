/* SHA-256 (FIPS 180-4) of a stream of bytes, for examples that print what they
 * computed as one line. Header only, plain C99.
 */
#ifndef EXAMPLES_SHA256_H
#define EXAMPLES_SHA256_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct sha256 {
  uint32_t state[8];
  uint64_t bytes;
  unsigned char block[64];
} sha256_t;

/* The first 32 bits of the fractional parts of the cube roots of the first 64
 * primes (FIPS 180-4, 4.2.2). */
static const uint32_t sha256_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static inline uint32_t sha256_rotate(uint32_t x, unsigned n) {
  return x >> n | x << (32 - n);
}

static inline void sha256_schedule(const unsigned char *block, uint32_t *w) {
  for (int i = 0; i < 16; ++i)
    w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
           (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
  for (int i = 16; i < 64; ++i) {
    uint32_t a = w[i - 15], b = w[i - 2];
    uint32_t s0 = sha256_rotate(a, 7) ^ sha256_rotate(a, 18) ^ a >> 3;
    uint32_t s1 = sha256_rotate(b, 17) ^ sha256_rotate(b, 19) ^ b >> 10;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
}

static inline void sha256_block(sha256_t *hash) {
  uint32_t w[64], s[8];
  sha256_schedule(hash->block, w);
  memcpy(s, hash->state, sizeof s);
  for (int i = 0; i < 64; ++i) {
    uint32_t e = s[4], a = s[0];
    uint32_t s1 =
        sha256_rotate(e, 6) ^ sha256_rotate(e, 11) ^ sha256_rotate(e, 25);
    uint32_t s0 =
        sha256_rotate(a, 2) ^ sha256_rotate(a, 13) ^ sha256_rotate(a, 22);
    uint32_t choice = (e & s[5]) ^ (~e & s[6]);
    uint32_t majority = (a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]);
    uint32_t t = s[7] + s1 + choice + sha256_k[i] + w[i];
    memmove(s + 1, s, 7 * sizeof *s);
    s[4] += t;
    s[0] = t + s0 + majority;
  }
  for (int i = 0; i < 8; ++i)
    hash->state[i] += s[i];
}

static inline void sha256_start(sha256_t *hash) {
  static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                    0xa54ff53a, 0x510e527f, 0x9b05688c,
                                    0x1f83d9ab, 0x5be0cd19};
  memcpy(hash->state, first, sizeof first);
  hash->bytes = 0;
}

static inline void sha256_add(sha256_t *hash, const void *data, size_t bytes) {
  const unsigned char *next = (const unsigned char *)data;
  while (bytes-- > 0) {
    hash->block[hash->bytes++ % 64] = *next++;
    if (hash->bytes % 64 == 0)
      sha256_block(hash);
  }
}

/* Writes 64 hexadecimal digits and a zero byte. */
static inline void sha256_finish(sha256_t *hash, char *text) {
  uint64_t bits = hash->bytes * 8;
  unsigned char end = 0x80, length[8];
  sha256_add(hash, &end, 1);
  for (end = 0; hash->bytes % 64 != 56;)
    sha256_add(hash, &end, 1);
  for (int i = 0; i < 8; ++i)
    length[i] = (unsigned char)(bits >> (56 - 8 * i));
  sha256_add(hash, length, 8);
  for (int i = 0; i < 64; ++i)
    text[i] = "0123456789abcdef"[hash->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
  text[64] = 0;
}

#endif /* EXAMPLES_SHA256_H */
