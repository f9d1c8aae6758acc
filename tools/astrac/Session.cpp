// See Session.h.
#include "tools/astrac/Session.h"

using namespace astra;

void Session::releaseTensors() {
  for (astra_tensor_t tensor : tensors)
    astra_tensor_release(runtime, tensor, nullptr);
  tensors.clear();
}

Session::~Session() {
  releaseTensors();
  // Everything else that is still alive goes with the runtime.
  astra_runtime_destroy(runtime);
}

bool Session::check(astra_status_t result, astra_error_t *error) {
  status = result;
  if (status == ASTRA_OK)
    return true;
  std::string place = astra_error_location(error);
  message = place.empty() ? "" : place + ": ";
  message += astra_error_message(error);
  if (message.empty())
    message = astra_status_name(status);
  astra_error_release(error);
  return false;
}

bool Session::open(unsigned threads, const std::string &level) {
  astra_runtime_options_t options;
  ASTRA_INIT(RUNTIME_OPTIONS, &options);
  options.threads = threads;
  options.cpu_level = level == "ref"    ? ASTRA_CPU_REFERENCE
                      : level == "v3"   ? ASTRA_CPU_X86_64_V3
                      : level == "v4"   ? ASTRA_CPU_X86_64_V4
                      : level == "neon" ? ASTRA_CPU_NEON
                                        : 0;
  astra_error_t *error = nullptr;
  return check(astra_runtime_create(&options, &runtime, &error), error) &&
         check(astra_device_open(runtime, "cpu", &device, &error), error) &&
         check(astra_stream_create(runtime, device, nullptr, &stream, &error),
               error);
}

bool Session::watch(bool trace, const std::string &stopAt) {
  uint32_t checks = stopAt == "nan"    ? ASTRA_CHECK_NAN
                    : stopAt == "inf"  ? ASTRA_CHECK_INFINITY
                    : stopAt == "both" ? ASTRA_CHECK_NAN | ASTRA_CHECK_INFINITY
                                       : 0;
  astra_error_t *error = nullptr;
  return check(astra_stream_trace(runtime, stream, trace, &error), error) &&
         check(astra_stream_check(runtime, stream, checks, &error), error);
}

bool Session::saveTrace(const std::string &path) {
  astra_error_t *error = nullptr;
  return path.empty() ||
         check(astra_trace_save(runtime, path.c_str(), &error), error);
}

bool Session::load(const std::string &path) {
  astra_error_t *error = nullptr;
  return check(astra_module_load(runtime, path.c_str(), &module, &error),
               error) &&
         count();
}

bool Session::inspect(const std::string &path) {
  astra_error_t *error = nullptr;
  return check(astra_module_inspect(runtime, path.c_str(), &module, &error),
               error) &&
         count();
}

bool Session::count() {
  astra_error_t *error = nullptr;
  astra_module_info_t info;
  ASTRA_INIT(MODULE_INFO, &info);
  if (!check(astra_module_info(runtime, module, &info, &error), error))
    return false;
  functionCount = info.function_count;
  kernelCount = info.kernel_count;
  return true;
}

bool Session::find(const std::string &name, astra_function_t &function) {
  astra_error_t *error = nullptr;
  return check(
      astra_module_function(runtime, module, name.c_str(), &function, &error),
      error);
}

bool Session::describe(astra_function_t function, astra_function_info_t &info) {
  ASTRA_INIT(FUNCTION_INFO, &info);
  astra_error_t *error = nullptr;
  return check(astra_function_info(runtime, function, &info, &error), error);
}

bool Session::getFunction(size_t index, astra_function_t &function,
                          astra_function_info_t &info) {
  astra_error_t *error = nullptr;
  return check(astra_module_function_at(runtime, module, index, &function,
                                        &error),
               error) &&
         describe(function, info);
}

bool Session::call(astra_function_t function,
                   const std::vector<astra_value_t> &inputs,
                   std::vector<astra_tensor_t> &outputs) {
  astra_error_t *error = nullptr;
  astra_status_t status = astra_function_call(
      runtime, function, stream, nullptr, inputs.data(), inputs.size(),
      outputs.data(), outputs.size(), &error);
  if (!check(status, error))
    return false;
  for (astra_tensor_t output : outputs)
    own(output);
  // A function without results reports its error where the stream is waited
  // for.
  if (!check(astra_stream_wait(runtime, stream, &error), error))
    return false;
  for (astra_tensor_t output : outputs)
    if (!check(astra_tensor_wait(runtime, output, &error), error))
      return false;
  return true;
}
