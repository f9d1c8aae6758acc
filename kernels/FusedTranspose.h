// Copies between a view of two axes and a buffer in which the second axis is
// consecutive: whole runs, tiles turned in registers, or element by element.
#ifndef ASTRA_KERNELS_FUSEDTRANSPOSE_H
#define ASTRA_KERNELS_FUSEDTRANSPOSE_H

#include "kernels/Isa.h"
#include <cstring>

ASTRA_KERNELS_BEGIN

/// Distances in bytes: along both axes of the view, and of the buffer's lines.
struct Plane {
  int64_t outer, inner, step;
};

typedef uint32_t TileLine __attribute__((ext_vector_type(4)));

/// Four lines of four words, turned.
inline void turnTile(const char *from, int64_t fromStep, char *to,
                     int64_t toStep) {
  TileLine a, b, c, d;
  std::memcpy(&a, from, sizeof(a));
  std::memcpy(&b, from + fromStep, sizeof(b));
  std::memcpy(&c, from + 2 * fromStep, sizeof(c));
  std::memcpy(&d, from + 3 * fromStep, sizeof(d));
  TileLine ab = __builtin_shufflevector(a, b, 0, 4, 1, 5),
           cd = __builtin_shufflevector(c, d, 0, 4, 1, 5),
           ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7),
           cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  TileLine lines[4] = {__builtin_shufflevector(ab, cd, 0, 1, 4, 5),
                       __builtin_shufflevector(ab, cd, 2, 3, 6, 7),
                       __builtin_shufflevector(ab2, cd2, 0, 1, 4, 5),
                       __builtin_shufflevector(ab2, cd2, 2, 3, 6, 7)};
  for (int i = 0; i < 4; ++i)
    std::memcpy(to + i * toStep, &lines[i], sizeof(lines[i]));
}

template <class T> inline void copyElement(char *view, char *buffer, bool out) {
  std::memcpy(out ? view : buffer, out ? buffer : view, sizeof(T));
}

template <class T>
inline void copyElements(char *view, char *buffer, const Plane &plane,
                         int64_t outer, int64_t inner, bool out) {
  for (int64_t j = 0; j < outer; ++j)
    for (int64_t r = 0; r < inner; ++r)
      copyElement<T>(view + j * plane.outer + r * plane.inner,
                     buffer + j * plane.step + r * int64_t(sizeof(T)), out);
}

/// Words whose first axis is the consecutive one of the view.
inline void turnWords(char *view, char *buffer, const Plane &plane,
                      int64_t outer, int64_t inner, bool out) {
  int64_t wholeOuter = outer & -4, wholeInner = inner & -4;
  for (int64_t r = 0; r < wholeInner; r += 4)
    for (int64_t j = 0; j < wholeOuter; j += 4) {
      char *seen = view + j * 4 + r * plane.inner,
           *kept = buffer + j * plane.step + r * 4;
      if (out)
        turnTile(kept, plane.step, seen, plane.inner);
      else
        turnTile(seen, plane.inner, kept, plane.step);
    }
  copyElements<uint32_t>(view + wholeOuter * 4,
                         buffer + wholeOuter * plane.step, plane,
                         outer - wholeOuter, wholeInner, out);
  copyElements<uint32_t>(view + wholeInner * plane.inner,
                         buffer + wholeInner * 4, plane, outer,
                         inner - wholeInner, out);
}

inline void copyPlane(char *view, char *buffer, const Plane &plane,
                      int64_t outer, int64_t inner, int64_t width, bool out) {
  if (plane.inner == width)
    for (int64_t j = 0; j < outer; ++j)
      std::memcpy(out ? view + j * plane.outer : buffer + j * plane.step,
                  out ? buffer + j * plane.step : view + j * plane.outer,
                  size_t(inner * width));
  else if (width == 4 && plane.outer == 4)
    turnWords(view, buffer, plane, outer, inner, out);
  else if (width == 4)
    copyElements<uint32_t>(view, buffer, plane, outer, inner, out);
  else if (width == 8)
    copyElements<uint64_t>(view, buffer, plane, outer, inner, out);
  else if (width == 2)
    copyElements<uint16_t>(view, buffer, plane, outer, inner, out);
  else
    copyElements<uint8_t>(view, buffer, plane, outer, inner, out);
}

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_FUSEDTRANSPOSE_H
