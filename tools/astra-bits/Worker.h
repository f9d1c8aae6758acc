// What runs modules: each of their functions with inputs that are made, for a
// list of levels and numbers of threads. One process runs all builds for a
// processor, since an emulator translates the runtime and its kernels anew in
// each. Prints one line for each result, whose bytes go into a Store; the lines
// of different workers are compared by Comparison.h. Uses the public C API
// only, so that it is built for any architecture without the compiler.
#ifndef ASTRA_TOOLS_ASTRA_BITS_WORKER_H
#define ASTRA_TOOLS_ASTRA_BITS_WORKER_H

#include "tools/astra-bits/Options.h"

namespace astra {

// Lines are fields between tabs:
//   build N                             the lines that follow are of module N
//   result LEVEL THREADS KEY N STATUS   N is the result's number in the Store,
//                                       STATUS "ok" or an error's sentence
//   linalg KERNEL                       outside the promise across processors
//   at TEXT                             what begins now, for who waits
//   note SENTENCE                       of what was left out
//   few SENTENCE                        of what had enough (Schedule.h)
//   failed SENTENCE                     nothing could be run
constexpr char BuildLine[] = "build", ResultLine[] = "result",
               LinalgLine[] = "linalg", NoteLine[] = "note", FewLine[] = "few",
               AtLine[] = "at", FailedLine[] = "failed";

int runWorker(const Options &options);

} // namespace astra
#endif // ASTRA_TOOLS_ASTRA_BITS_WORKER_H
