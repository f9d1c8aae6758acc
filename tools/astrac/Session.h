// A runtime with a CPU stream and one loaded module, used through the public C
// API only, and released together. Errors of the runtime become text.
#ifndef ASTRA_TOOLS_ASTRAC_SESSION_H
#define ASTRA_TOOLS_ASTRAC_SESSION_H

#include "astra/astra.h"
#include <string>
#include <vector>

namespace astra {

class Session {
public:
  Session() = default;
  ~Session();
  Session(const Session &) = delete;

  /// Each is false with getError() set.
  /// `level` is "", or the kernels' level: "ref", "v3", "v4", "neon".
  bool open(unsigned threads, const std::string &level);
  /// Has what is called from now on recorded, and stop at what is not finite:
  /// "nan", "inf", "both" or "".
  bool watch(bool trace, const std::string &stopAt);
  /// Writes the record to a file, if there is a path.
  bool saveTrace(const std::string &path);
  bool load(const std::string &path);
  /// Reads what the file says of itself; nothing of it can be called.
  bool inspect(const std::string &path);
  bool find(const std::string &name, astra_function_t &function);
  bool getFunction(size_t index, astra_function_t &function,
                   astra_function_info_t &info);
  size_t getFunctionCount() const { return functionCount; }
  size_t getKernelCount() const { return kernelCount; }
  /// Calls and waits. The outputs are released with the session.
  bool call(astra_function_t function, const std::vector<astra_value_t> &inputs,
            std::vector<astra_tensor_t> &outputs);
  bool describe(astra_function_t function, astra_function_info_t &info);
  /// Releases a tensor at the end, or by releaseTensors().
  void own(astra_tensor_t tensor) { tensors.push_back(tensor); }
  void releaseTensors();
  /// Turns a failed status into text.
  bool check(astra_status_t result, astra_error_t *error);

  const std::string &getError() const { return message; }
  /// The last status that was checked.
  astra_status_t getStatus() const { return status; }
  astra_runtime_t *getRuntime() { return runtime; }
  astra_device_t getDevice() const { return device; }
  astra_module_t getModule() const { return module; }

private:
  bool count();

  astra_runtime_t *runtime = nullptr;
  astra_device_t device = {0};
  astra_stream_t stream = {0};
  astra_module_t module = {0};
  size_t functionCount = 0, kernelCount = 0;
  astra_status_t status = ASTRA_OK;
  std::vector<astra_tensor_t> tensors;
  std::string message;
};

} // namespace astra
#endif // ASTRA_TOOLS_ASTRAC_SESSION_H
