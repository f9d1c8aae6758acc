// The threads that drive streams: each takes a stream that can go on, and does
// its work until there is none or something is missing. Knows nothing of what
// the work is.
#ifndef ASTRA_RUNTIME_STREAMTHREADS_H
#define ASTRA_RUNTIME_STREAMTHREADS_H

#include "core/Stream.h"
#include <vector>

namespace astra {

class StreamThreads {
public:
  /// Makes no thread yet.
  StreamThreads() = default;
  ~StreamThreads() { stop(); }
  /// Makes `count` threads, or reports that the system gave fewer.
  Status start(uint32_t count);
  /// Ends them once no stream can go on.
  void stop() noexcept;
  /// Hands over the role of a stream's driver; false if there are no threads.
  bool push(Ref<Stream> stream) noexcept;

private:
  void work();
  Ref<Stream> next();

  std::vector<std::thread> threads;
  std::mutex mutex;
  std::condition_variable wake;
  ReadyStreams ready;
  std::atomic<uint64_t> pushes{0};
  uint32_t sleeping = 0;
  bool serving = false, stopping = false;
};

} // namespace astra
#endif // ASTRA_RUNTIME_STREAMTHREADS_H
