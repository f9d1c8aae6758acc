// The sentences of errors (Call.h). Compiled once for each instruction set that
// uses it; not on any fast path.
#include "kernels/Call.h"
#include <cstdio>
#include <cstring>

ASTRA_KERNELS_BEGIN

Sentence &Sentence::text(const char *s) {
  size_t room = sizeof(buffer) - 1 - used, length = std::strlen(s);
  if (length > room)
    length = room;
  std::memcpy(buffer + used, s, length);
  used += unsigned(length);
  return *this;
}

Sentence &Sentence::integer(int64_t value) {
  char digits[24];
  std::snprintf(digits, sizeof(digits), "%lld", (long long)value);
  return text(digits);
}

Sentence &Sentence::natural(uint64_t value) {
  char digits[24];
  std::snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
  return text(digits);
}

Sentence &Sentence::real(double value, int digits) {
  char shown[40];
  std::snprintf(shown, sizeof(shown), "%.*g", digits, value);
  return text(shown);
}

Sentence &Sentence::index(const astra_arg_t &arg, int64_t position) {
  int64_t index[ASTRA_MAX_RANK];
  for (int d = int(arg.rank) - 1; d >= 0; --d) {
    index[d] = position % arg.shape[d];
    position /= arg.shape[d];
  }
  text("[");
  for (uint32_t d = 0; d < arg.rank; ++d) {
    if (d)
      text(", ");
    integer(index[d]);
  }
  return text("]");
}

astra_outcome_t failOverNothing(const astra_call_t *call, const char *name) {
  Sentence s;
  s.text(name).text(" over nothing: a reduced extent is 0");
  return call->api->fail(call, ASTRA_ERROR_INVALID_ARGUMENT, s.get());
}

ASTRA_KERNELS_END
