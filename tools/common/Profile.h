// What a trace comes to: one row for each kernel and place in the program, and
// how near it comes to what the machine can do. Knows the public C API alone.
#ifndef ASTRA_TOOLS_COMMON_PROFILE_H
#define ASTRA_TOOLS_COMMON_PROFILE_H

#include "astra/astra.hpp"
#include "tools/common/Peak.h"

namespace astra {

struct ProfileRow {
  std::string kernel, source;
  uint64_t calls = 0, nanoseconds = 0, bytes = 0, flops = 0;
};

struct Profile {
  std::vector<ProfileRow> rows; // the longest first
  uint64_t calls = 0;           // of functions
  uint64_t nanoseconds = 0;     // in them
  uint64_t dropped = 0;         // events that are not in it
};

/// Sums up what the runtime has recorded.
Result<Profile> readProfile(astra_runtime_t *runtime);

/// A table of the first `most` rows, and lines for the rest.
std::string toTable(const Profile &profile, const Peak &peak, size_t most);

} // namespace astra
#endif // ASTRA_TOOLS_COMMON_PROFILE_H
