// Threads of the runtime's own, which take none of the signals that are meant
// for the program: one that it waits for or blocks must not arrive here. Those
// that a thread raises by what it does itself, and profilers' ticks, do.
#ifndef ASTRA_RUNTIME_QUIETTHREAD_H
#define ASTRA_RUNTIME_QUIETTHREAD_H

#include <csignal>
#include <thread>
#include <utility>

namespace astra {

/// Blocks signals on the calling thread, for what is started meanwhile.
class SignalsBlocked {
public:
  SignalsBlocked() {
    sigset_t most;
    sigfillset(&most);
    for (int raised : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGPROF})
      sigdelset(&most, raised);
    pthread_sigmask(SIG_BLOCK, &most, &before);
  }
  SignalsBlocked(const SignalsBlocked &) = delete;
  SignalsBlocked &operator=(const SignalsBlocked &) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }

private:
  sigset_t before;
};

/// Throws std::system_error if the system gives no thread.
template <class Body> std::thread startQuietThread(Body &&body) {
  SignalsBlocked inherited;
  return std::thread(std::forward<Body>(body));
}

} // namespace astra
#endif // ASTRA_RUNTIME_QUIETTHREAD_H
