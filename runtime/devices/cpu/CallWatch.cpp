// The kernels that a watched entry calls; see CallWatch.h. An entry calls them
// by their place in a table, so there is one function for each place, which
// knows it. Nothing here throws through an entry: what there is no memory for
// is not noted.
#include "devices/cpu/CallWatch.h"
#include "devices/cpu/FiniteScan.h"
#include <algorithm>
#include <array>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace astra {
namespace {

/// A module imports no kernel twice, so this many places are enough.
constexpr size_t mostImports = 0
#define KERNEL(op, dtype, version, inputs, outputs, params, doc) +1
#include "kernels/kernels.def"
    ;

template <size_t Import>
astra_outcome_t watchedKernel(const astra_call_t *call, const astra_arg_t *args,
                              const int64_t *params) {
  return CallWatch::runKernel(call, Import, args, params);
}

template <size_t... Imports>
constexpr std::array<astra_kernel_fn, sizeof...(Imports)>
makeTable(std::index_sequence<Imports...>) {
  return {watchedKernel<Imports>...};
}
constexpr auto watchedKernels =
    makeTable(std::make_index_sequence<mostImports>());

uint64_t thisThread() { return uint64_t(syscall(SYS_gettid)); }

const char *nameOf(uint32_t found) {
  return found & ASTRA_CHECK_NAN ? "a NaN" : "an infinity";
}

} // namespace

CallWatch::CallWatch(const astra_call_t &real, const Launch &launch,
                     const astra_backend_call_t &call, Trace &trace)
    : real(real), launch(launch), leaves(call), trace(trace),
      checks(Watch::checks(launch.getWatch())),
      traced(launch.getWatch() & Watch::trace),
      saysPlaces(launch.module->descriptor().object_abi >= 3),
      traits(trace.traitsOf(launch.module)), kernels(launch.module->kernels()),
      api(*real.api), context{real, this} {
  size_t known = std::min(kernels.size(), mostImports);
  std::copy_n(watchedKernels.begin(), known, kernels.begin());
  api.workspace = takeWorkspace;
  context.call.kernels = kernels.data();
  context.call.api = &api;
  allowed = findIn(call.in, uint32_t(launch.in.size()));
}

astra_outcome_t CallWatch::run() {
  uint64_t start = trace.now();
  astra_outcome_t outcome =
      launch.function->entry(&context.call, leaves.in, leaves.out);
  outcome = checkResults(outcome);
  if (traced)
    finish(start);
  return outcome;
}

astra_outcome_t CallWatch::runKernel(const astra_call_t *call, size_t import,
                                     const astra_arg_t *args,
                                     const int64_t *params) {
  // The entry passes on the context that it was given.
  CallWatch &self = *reinterpret_cast<const Context *>(call)->watch;
  astra_outcome_t outcome = 0;
  Status status = guarded([&]() -> Status {
    outcome = self.runKernel(import, args, params);
    return {};
  });
  return status.ok()
             ? outcome
             : self.real.api->fail(&self.real, status.code,
                                   "there is no memory to watch a call");
}

astra_outcome_t CallWatch::runKernel(size_t import, const astra_arg_t *args,
                                     const int64_t *params) {
  Operands operands = operandsOf((*traits)[import], args, params);
  uint64_t start = trace.now();
  astra_outcome_t outcome =
      checks ? runChecked(import, operands, args, params)
             : launch.module->kernels()[import](&real, args, params);
  if (traced)
    note(import, operands, params, start);
  return outcome;
}

//===-- Not finite --------------------------------------------------------===//

uint32_t CallWatch::findIn(const astra_arg_t *args, uint32_t count) const {
  uint32_t found = 0;
  for (uint32_t i = 0; i < count && found != checks; ++i)
    found |= findNotFinite(args[i], checks & ~found);
  return found;
}

/// In operands that the call itself has made: those in its workspace.
uint32_t CallWatch::findMade(const Operands &operands) const {
  uint32_t found = 0;
  for (uint32_t i = 0; i < operands.inputCount; ++i) {
    const char *data = static_cast<const char *>(operands.inputs[i].data);
    for (const auto &[begin, end] : workspaces)
      if (data >= begin && data < end)
        found |= findNotFinite(operands.inputs[i], checks);
  }
  return found;
}

astra_outcome_t CallWatch::runChecked(size_t import, const Operands &operands,
                                      const astra_arg_t *args,
                                      const int64_t *params) {
  // What no kernel has written, and nobody has given, scalar code has made.
  if (uint32_t found = findMade(operands) & ~allowed)
    return refuse(kernelText(import, params), " reads ", found,
                  " that the arithmetic of scalars before it has made");
  uint32_t before = findIn(operands.inputs, operands.inputCount);
  astra_outcome_t outcome =
      launch.module->kernels()[import](&real, args, params);
  if (outcome)
    return outcome;
  uint32_t after = findIn(operands.outputs, operands.outputCount);
  allowed |= before & after;
  if (uint32_t found = after & ~before)
    return refuse(kernelText(import, params), " makes ", found,
                  "; what it reads has none");
  return 0;
}

/// A result may come from scalar code without any kernel.
astra_outcome_t CallWatch::checkResults(astra_outcome_t outcome) {
  if (!checks || outcome)
    return outcome;
  uint32_t found = findIn(leaves.out, uint32_t(launch.out.size())) & ~allowed;
  if (!found)
    return 0;
  if (int64_t location = exportLocation(); location >= 0)
    real.api->locate(&real, uint32_t(location));
  return refuse(launch.name(), " gives ", found,
                " that the arithmetic of scalars has made");
}

astra_outcome_t CallWatch::refuse(const std::string &who, const char *does,
                                  uint32_t found, const char *why) const {
  std::string text = join(who, does, nameOf(found), why);
  return real.api->fail(&real, ASTRA_ERROR_NOT_FINITE, text.c_str());
}

std::string CallWatch::kernelText(size_t import, const int64_t *params) const {
  const Module &module = *launch.module;
  const astra_module_desc_t &desc = module.descriptor();
  const KernelTraits &row = (*traits)[import];
  if (!runsFused(row))
    return join("kernel ", desc.imports[import].name);
  const astra_fused_desc_t &fused = fusedOf(params);
  std::string places = module.fusedSource(size_t(&fused - desc.fused));
  bool isJoined = row.rule == KernelTraits::Joined;
  return join(isJoined ? join(desc.imports[import].name, " with ") : "",
              "the fused kernel \"", fused.ops, "\"",
              places.empty() ? "" : " of ", places);
}

//===-- Trace -------------------------------------------------------------===//

int64_t CallWatch::locationOf(const int64_t *params) const {
  return saysPlaces && params ? params[-1] : -1;
}

int64_t CallWatch::exportLocation() const {
  const astra_module_desc_t &desc = launch.module->descriptor();
  return saysPlaces && desc.export_places
             ? desc.export_places[launch.function - desc.exports]
             : -1;
}

void CallWatch::note(size_t import, const Operands &operands,
                     const int64_t *params, uint64_t start) noexcept {
  const KernelTraits &row = (*traits)[import];
  bool isFused = runsFused(row);
  Status status = guarded([&]() -> Status {
    notes.push_back({import, locationOf(params),
                     isFused ? &fusedOf(params) : nullptr, thisThread(), start,
                     trace.now(), costOf(row, operands, params)});
    return {};
  });
  (void)status;
}

/// Notes the whole call, and hands all notes over.
void CallWatch::finish(uint64_t start) noexcept {
  Cost sum;
  for (const Trace::Note &each : notes) {
    sum.bytes += each.cost.bytes;
    sum.flops += each.cost.flops;
  }
  Status status = guarded([&]() -> Status {
    notes.push_back({Trace::wholeCall, exportLocation(), nullptr, thisThread(),
                     start, trace.now(), sum});
    return {};
  });
  (void)status;
  trace.add(launch.module, *launch.function,
            launch.getWatch() >> Watch::numberShift, notes);
}

void *CallWatch::takeWorkspace(const astra_call_t *call, int64_t bytes) {
  CallWatch &self = *reinterpret_cast<const Context *>(call)->watch;
  auto *memory =
      static_cast<char *>(self.real.api->workspace(&self.real, bytes));
  Status status = guarded([&]() -> Status {
    if (memory)
      self.workspaces.emplace_back(memory, memory + bytes);
    return {};
  });
  (void)status;
  return memory;
}

} // namespace astra
