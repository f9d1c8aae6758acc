// Runtimes with a device of any back end: built in, or of a plug-in by path.
#ifndef ASTRA_TEST_BACKENDTESTING_H
#define ASTRA_TEST_BACKENDTESTING_H

#include "../RuntimeTesting.h"
#include "astra/backend.h"

namespace astra::test {

/// A device to test: of a plug-in, or built in if `path` is empty.
struct Candidate {
  std::string path;
  std::string device;
  uint64_t capabilities;
};

/// The devices that a plug-in brings, or those that are built in.
inline std::vector<Candidate> devicesOf(const std::string &path) {
  std::vector<Candidate> found;
  astra_runtime_t *runtime = nullptr;
  size_t first = 0, count = 0;
  astra_runtime_create(nullptr, &runtime, nullptr);
  if (!path.empty()) {
    astra_error_t *error = nullptr;
    astra_device_count(runtime, &first, nullptr);
    if (astra_backend_load(runtime, path.c_str(), &error) != ASTRA_OK)
      ADD_FAILURE() << takeMessage(error);
  }
  astra_device_count(runtime, &count, nullptr);
  for (size_t i = first; i < count; ++i) {
    astra_device_info_t info;
    ASTRA_INIT(DEVICE_INFO, &info);
    astra_device_info(runtime, i, &info, nullptr);
    found.push_back({path, info.name, info.capabilities});
  }
  astra_runtime_destroy(runtime);
  return found;
}

/// What "astra.backend" gives of a device.
inline const astra_extension_backend_t *accessTo(astra_runtime_t *runtime,
                                                 astra_device_t device) {
  const astra_extension_t *table = nullptr;
  EXPECT_EQ(astra_device_extension(runtime, device, ASTRA_EXTENSION_BACKEND, 1,
                                   &table, nullptr),
            ASTRA_OK);
  return reinterpret_cast<const astra_extension_backend_t *>(table);
}

} // namespace astra::test
#endif // ASTRA_TEST_BACKENDTESTING_H
