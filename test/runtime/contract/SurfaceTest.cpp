// Every function of the table is called with arguments that are null, or whose
// handles are null, made up, stale, of another kind or of another runtime. All
// must be refused, with a sentence; none may crash. A function that is added
// takes part by itself.
#include "../RuntimeTesting.h"
#include "astra/api.h"
#include <cstdio>
#include <functional>
#include <map>
#include <set>
#include <unistd.h>

using namespace astra::test;

namespace {

/// One handle of each kind.
struct Handles {
  astra_device_t device{0};
  astra_stream_t stream{0};
  astra_tensor_t tensor{0};
  astra_mapping_t mapping{0};
  astra_module_t module{0};
  astra_function_t function{0};
  astra_archive_t archive{0};
  astra_event_t event{0};

  template <class Visit> void each(Visit &&visit) {
    visit(device.bits), visit(stream.bits), visit(tensor.bits);
    visit(mapping.bits), visit(module.bits), visit(function.bits);
    visit(archive.bits), visit(event.bits);
  }
};

/// What the arguments of a call are made of.
struct Arguments {
  astra_runtime_t *runtime = nullptr;
  astra_error_t **error = nullptr;
  Handles handles;
  void *memory = nullptr; // behind every other pointer; zeros
  uint32_t number = 0;
};

template <class T> struct IsHandle : std::false_type {};
#define HANDLE(NAME)                                                           \
  template <> struct IsHandle<astra_##NAME##_t> : std::true_type {};           \
  void set(astra_##NAME##_t &to, const Arguments &from) {                      \
    to = from.handles.NAME;                                                    \
  }
HANDLE(device)
HANDLE(stream)
HANDLE(tensor)
HANDLE(mapping)
HANDLE(module)
HANDLE(function)
HANDLE(archive)
HANDLE(event)
#undef HANDLE
void set(astra_runtime_t *&to, const Arguments &from) { to = from.runtime; }
void set(astra_error_t **&to, const Arguments &from) { to = from.error; }
/// Null is right for these, and leads to the handle.
void set(const astra_stream_options_t *&to, const Arguments &) { to = nullptr; }
void set(const astra_call_options_t *&to, const Arguments &) { to = nullptr; }
template <class T>
std::enable_if_t<std::is_arithmetic_v<T>> set(T &to, const Arguments &from) {
  to = T(from.number);
}
template <class R, class... P> R doNothing(P...) { return R(); }
template <class R, class... P> void set(R (*&to)(P...), const Arguments &from) {
  to = from.memory ? doNothing<R, P...> : nullptr;
}
template <class T> void set(T *&to, const Arguments &from) {
  to = reinterpret_cast<T *>(from.memory);
}

template <class T> T made(const Arguments &from) {
  T value{};
  set(value, from);
  return value;
}

/// A function of the table by its name.
class Entry {
public:
  template <class... P>
  Entry(const char *name, astra_status_t (*function)(P...))
      : name(name), takesRuntime((std::is_same_v<P, astra_runtime_t *> || ...)),
        takesHandle((IsHandle<P>::value || ...)),
        call([function](const Arguments &from) {
          return function(made<P>(from)...);
        }) {}

  std::string name;
  bool takesRuntime, takesHandle;
  std::function<astra_status_t(const Arguments &)> call;
};

/// The functions that return a status.
class Entries {
public:
  Entries() {
    const astra_api_t &api = *astra_get_api(ASTRA_API_VERSION);
#define ADD(NAME) add(#NAME, api.NAME);
    ASTRA_API_FUNCTIONS(ADD)
#undef ADD
  }
  std::vector<Entry> all;

private:
  template <class... P>
  void add(const char *name, astra_status_t (*function)(P...)) {
    if constexpr (sizeof...(P) > 1)
      all.emplace_back(name, function);
  }
  /// Those without fail never: they take what they are given.
  template <class R, class... P> void add(const char *, R (*function)(P...)) {
    function(made<P>(Arguments())...);
  }
};

class Surface : public RuntimeTest {
protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    valid = handlesOf(runtime);
  }
  void TearDown() override {
    std::remove(path.c_str());
    RuntimeTest::TearDown();
  }
  /// A live handle of each kind.
  Handles handlesOf(astra_runtime_t *of) {
    Handles made;
    float value = 1;
    int64_t shape[] = {1};
    void *data = nullptr;
    size_t bytes = 0;
    const char *name = "x";
    astra_device_open(of, "cpu", &made.device, nullptr);
    astra_stream_create(of, made.device, nullptr, &made.stream, nullptr);
    astra_tensor_from_data(of, made.device, ASTRA_F32, 1, shape, &value, 4,
                           &made.tensor, nullptr);
    astra_tensor_map(of, made.tensor, made.device, ASTRA_MAP_READ, 0, 1,
                     &made.mapping, &data, &bytes, nullptr);
    astra_module_link(of, &astra_module_toy, &made.module, nullptr);
    astra_module_function(of, made.module, "add", &made.function, nullptr);
    astra_safetensors_save(of, path.c_str(), &name, &made.tensor, 1, nullptr);
    astra_safetensors_load(of, path.c_str(), &made.archive, nullptr);
    astra_event_create(of, nullptr, &made.event, nullptr);
    made.each([](uint64_t bits) { EXPECT_NE(bits, 0u); });
    return made;
  }
  void releaseAll(astra_runtime_t *of, const Handles &handles) {
    astra_tensor_unmap(of, handles.mapping, nullptr);
    astra_tensor_release(of, handles.tensor, nullptr);
    astra_function_release(of, handles.function, nullptr);
    astra_module_release(of, handles.module, nullptr);
    astra_archive_release(of, handles.archive, nullptr);
    astra_event_release(of, handles.event, nullptr);
    astra_stream_release(of, handles.stream, nullptr);
  }
  /// Calls each function that takes a handle; all must say INVALID_HANDLE.
  void expectInvalid(const Handles &handles, const char *what) {
    // What these are given besides is refused before the handle is looked at.
    const std::map<std::string, astra_status_t> others = {
        {"safetensors_save", ASTRA_ERROR_INVALID_ARGUMENT},
        {"tensor_from_dlpack", ASTRA_ERROR_UNSUPPORTED_VERSION}};
    size_t count = 0;
    for (const Entry &entry : entries.all) {
      if (!entry.takesHandle)
        continue;
      alignas(64) static char memory[1 << 16];
      std::fill_n(memory, sizeof memory, 0);
      astra_error_t *error = nullptr;
      astra_status_t status = entry.call({runtime, &error, handles, memory, 1});
      auto other = others.find(entry.name);
      EXPECT_EQ(status, other == others.end() ? ASTRA_ERROR_INVALID_HANDLE
                                              : other->second)
          << entry.name << " with " << what;
      EXPECT_NE(takeMessage(error), "") << entry.name;
      ++count;
    }
    EXPECT_GT(count, 50u);
  }

  std::string path = "surface-" + std::to_string(getpid());
  Entries entries;
  Handles valid;
};

TEST_F(Surface, RefusesANullRuntime) {
  for (const Entry &entry : entries.all) {
    if (!entry.takesRuntime)
      continue;
    astra_error_t *error = nullptr;
    EXPECT_EQ(entry.call({nullptr, &error, valid, nullptr, 0}),
              ASTRA_ERROR_INVALID_ARGUMENT)
        << entry.name;
    EXPECT_NE(takeMessage(error).find("\"runtime\" is null"), std::string::npos)
        << entry.name;
    EXPECT_EQ(entry.call({nullptr, nullptr, valid, nullptr, 0}),
              ASTRA_ERROR_INVALID_ARGUMENT)
        << entry.name;
  }
}

TEST_F(Surface, RefusesNullPointers) {
  // These need no pointer at all.
  const std::set<std::string> fine = {
      "runtime_trim",     "stream_wait",       "stream_position",
      "stream_cancel",    "event_record",      "tensor_wait",
      "stream_release",   "event_release",     "tensor_release",
      "tensor_retain",    "tensor_unmap",      "module_release",
      "function_release", "archive_release",   "device_release",
      "tensor_shape",     "tensor_strides",    "module_kernel",
      "event_signal",     "stream_wait_event", "event_wait",
      "stream_run",       "stream_trace",      "stream_check",
      "trace_count",      "trace_clear",       "function_memory"};
  for (const Entry &entry : entries.all) {
    if (fine.count(entry.name))
      continue;
    astra_error_t *error = nullptr;
    EXPECT_NE(entry.call({runtime, &error, valid, nullptr, 0}), ASTRA_OK)
        << entry.name;
    EXPECT_NE(takeMessage(error), "") << entry.name;
  }
}

TEST_F(Surface, RefusesNullHandles) { expectInvalid(Handles(), "null"); }

TEST_F(Surface, RefusesHandlesThatWereMadeUp) {
  for (uint64_t bits : {uint64_t(1), ~uint64_t(0), uint64_t(0xdeadbeefdeadbeef),
                        uint64_t(3) << 60, uint64_t(1) << 63}) {
    Handles madeUp;
    madeUp.each([&](uint64_t &handle) { handle = bits; });
    expectInvalid(madeUp, "a number that was made up");
  }
  // A bit of a live handle is wrong.
  for (unsigned bit = 0; bit < 64; bit += 7) {
    Handles wrong = valid;
    wrong.each([&](uint64_t &handle) { handle ^= uint64_t(1) << bit; });
    expectInvalid(wrong, "a flipped bit");
  }
}

TEST_F(Surface, RefusesHandlesOfOtherKinds) {
  Handles turned = valid;
  turned.device.bits = valid.stream.bits;
  turned.stream.bits = valid.tensor.bits;
  turned.tensor.bits = valid.mapping.bits;
  turned.mapping.bits = valid.module.bits;
  turned.module.bits = valid.function.bits;
  turned.function.bits = valid.archive.bits;
  turned.archive.bits = valid.event.bits;
  turned.event.bits = valid.device.bits;
  expectInvalid(turned, "a handle of another kind");
}

TEST_F(Surface, RefusesStaleHandles) {
  Handles stale = handlesOf(runtime);
  stale.device.bits += uint64_t(1) << 24; // this device stays open
  releaseAll(runtime, stale);
  expectInvalid(stale, "a stale handle");
  Handles again = handlesOf(runtime); // the slots are in use again
  expectInvalid(stale, "a handle whose slot is in use again");
  releaseAll(runtime, again);
}

TEST_F(Surface, RefusesForeignHandles) {
  astra_runtime_t *other = nullptr;
  ASSERT_OK(astra_runtime_create(nullptr, &other, &error));
  expectInvalid(handlesOf(other), "a handle of another runtime");
  astra_runtime_destroy(other);
}

} // namespace
