// One call that is watched: the entry gets kernels that note when the real ones
// begin and end, and look at what they write. A call that is not watched never
// comes here.
#ifndef ASTRA_RUNTIME_CALLWATCH_H
#define ASTRA_RUNTIME_CALLWATCH_H

#include "core/Launch.h"
#include "core/Trace.h"

namespace astra {

class CallWatch {
public:
  /// `real` is the context that the call would have had.
  CallWatch(const astra_call_t &real, const Launch &launch,
            const astra_backend_call_t &call, Trace &trace);
  CallWatch(const CallWatch &) = delete;

  /// Calls the entry and hands the events over.
  astra_outcome_t run();

  /// A kernel's call, by its place among the imports.
  static astra_outcome_t runKernel(const astra_call_t *call, size_t import,
                                   const astra_arg_t *args,
                                   const int64_t *params);

private:
  /// The context that the entry is given.
  struct Context {
    astra_call_t call;
    CallWatch *watch;
  };

  static void *takeWorkspace(const astra_call_t *call, int64_t bytes);
  astra_outcome_t runKernel(size_t import, const astra_arg_t *args,
                            const int64_t *params);
  astra_outcome_t runChecked(size_t import, const Operands &operands,
                             const astra_arg_t *args, const int64_t *params);
  astra_outcome_t checkResults(astra_outcome_t outcome);
  astra_outcome_t refuse(const std::string &who, const char *does,
                         uint32_t found, const char *why) const;
  uint32_t findIn(const astra_arg_t *args, uint32_t count) const;
  uint32_t findMade(const Operands &operands) const;
  std::string kernelText(size_t import, const int64_t *params) const;
  int64_t locationOf(const int64_t *params) const;
  int64_t exportLocation() const;
  void note(size_t import, const Operands &operands, const int64_t *params,
            uint64_t start) noexcept;
  void finish(uint64_t start) noexcept;

  const astra_call_t &real;
  const Launch &launch;
  const astra_backend_call_t &leaves;
  Trace &trace;
  const uint32_t checks; // ASTRA_CHECK_*
  const bool traced;
  const bool saysPlaces; // whether parameters have the word before them
  Trace::Traits traits;
  std::vector<astra_kernel_fn> kernels;
  astra_call_api_t api;
  Context context;
  /// What values of the call may be: those that it was given had one.
  uint32_t allowed = 0;
  std::vector<std::pair<const char *, const char *>> workspaces;
  std::vector<Trace::Note> notes;
};

} // namespace astra
#endif // ASTRA_RUNTIME_CALLWATCH_H
