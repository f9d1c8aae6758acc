// What surrounds a runtime: other runtimes in the process, events of other
// systems, and processes that are forked from its own.
#include "../RuntimeTesting.h"
#include <poll.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace astra::test;

namespace {

using Process = RuntimeTest;

astra_event_t hostEvent(astra_runtime_t *runtime) {
  astra_event_options_t options;
  ASTRA_INIT(EVENT_OPTIONS, &options);
  options.flags = ASTRA_EVENT_HOST;
  astra_event_t event{0};
  EXPECT_EQ(astra_event_create(runtime, &options, &event, nullptr), ASTRA_OK);
  return event;
}

//===-- fork --------------------------------------------------------------===//

/// Runs `body` in a forked child; gives its exit status.
template <class Body> int inChild(Body &&body) {
  pid_t child = fork();
  if (child == 0)
    _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(Process, AChildIsRefused) {
  astra_runtime_destroy(runtime);
  start(2, nullptr, 1); // with threads, which the child does not have
  astra_tensor_t x = floats({2}, {1, 2});
  int outcome = inChild([&] {
    float values[2];
    astra_error_t *error = nullptr;
    if (astra_tensor_read(runtime, x, values, sizeof values, &error) !=
        ASTRA_ERROR_BUSY)
      return 1;
    if (takeMessage(error).find("forked") == std::string::npos)
      return 2;
    if (astra_tensor_release(runtime, x, nullptr) != ASTRA_ERROR_BUSY)
      return 3;
    astra_tensor_t out{77};
    if (astra_function_call(runtime, {0}, {0}, nullptr, nullptr, 0, &out, 1,
                            nullptr) != ASTRA_ERROR_BUSY ||
        out.bits != 0)
      return 4;
    astra_runtime_destroy(runtime);
    return 0;
  });
  EXPECT_EQ(outcome, 0);
  EXPECT_EQ(read<float>(x, 2), (std::vector<float>{1, 2})); // as before
}

TEST_F(Process, AChildMakesARuntimeOfItsOwn) {
  int outcome = inChild([&] {
    start(2, nullptr, 1);
    astra_value_t in[] = {astra_value_of_tensor(floats({2}, {1, 2})),
                          astra_value_of_tensor(floats({2}, {3, 4}))};
    astra_tensor_t out{0};
    float values[2] = {0, 0};
    if (astra_function_call(runtime, function("add"), stream, nullptr, in, 2,
                            &out, 1, nullptr) != ASTRA_OK ||
        astra_tensor_read(runtime, out, values, sizeof values, nullptr) !=
            ASTRA_OK)
      return 1;
    astra_runtime_destroy(runtime);
    return values[0] == 4 && values[1] == 6 ? 0 : 2;
  });
  EXPECT_EQ(outcome, 0);
}

//===-- Events of other systems -------------------------------------------===//

struct Told {
  std::vector<astra_status_t> statuses;
  static void tell(void *self, astra_status_t status) {
    static_cast<Told *>(self)->statuses.push_back(status);
  }
};

TEST_F(Process, EventsAreToldByCallback) {
  Told told;
  astra_event_t event = hostEvent(runtime);
  ASSERT_OK(astra_event_callback(runtime, event, Told::tell, &told, &error));
  EXPECT_TRUE(told.statuses.empty());
  ASSERT_OK(astra_event_signal(runtime, event, &error));
  EXPECT_EQ(told.statuses, (std::vector<astra_status_t>{ASTRA_OK}));
  ASSERT_OK(astra_event_callback(runtime, event, Told::tell, &told, &error));
  EXPECT_EQ(told.statuses.size(), 2u); // at once
  astra_event_t dropped = hostEvent(runtime);
  ASSERT_OK(astra_event_callback(runtime, dropped, Told::tell, &told, &error));
  ASSERT_OK(astra_event_release(runtime, dropped, &error));
  EXPECT_EQ(told.statuses.back(), ASTRA_ERROR_CANCELLED);
  astra_event_t unrecorded{0};
  ASSERT_OK(astra_event_create(runtime, nullptr, &unrecorded, &error));
  EXPECT_FAILS(
      ASTRA_ERROR_NOT_READY, "not been recorded",
      astra_event_callback(runtime, unrecorded, Told::tell, &told, &error));
}

bool isReadable(int fd) {
  pollfd entry = {fd, POLLIN, 0};
  return poll(&entry, 1, 0) == 1;
}

TEST_F(Process, EventsAreToldByDescriptor) {
  int fd = -1, closed = -1;
  astra_event_t event = hostEvent(runtime);
  ASSERT_OK(astra_event_export_fd(runtime, event, &fd, &error));
  ASSERT_OK(astra_event_export_fd(runtime, event, &closed, &error));
  close(closed); // the runtime has its own
  EXPECT_FALSE(isReadable(fd));
  ASSERT_OK(astra_event_signal(runtime, event, &error));
  EXPECT_TRUE(isReadable(fd));
  uint64_t count = 0;
  EXPECT_EQ(::read(fd, &count, sizeof count), ssize_t(sizeof count));
  close(fd);
}

/// Another system's event, which keeps what it is to tell.
struct Foreign {
  astra_foreign_event_t event;
  void (*signal)(void *token, astra_status_t status) = nullptr;
  void *token = nullptr;
  astra_status_t answer = ASTRA_OK;

  Foreign() {
    ASTRA_INIT(FOREIGN_EVENT, &event);
    event.context = this;
    event.subscribe = [](void *context, auto *signal, void *token) {
      auto &self = *static_cast<Foreign *>(context);
      self.signal = signal;
      self.token = token;
      return self.answer;
    };
  }
};

TEST_F(Process, WorkWaitsForForeignEvents) {
  Foreign foreign;
  astra_event_t event{0};
  ASSERT_OK(astra_event_import(runtime, &foreign.event, &event, &error));
  ASSERT_OK(astra_stream_wait_event(runtime, stream, event, &error));
  astra_value_t in[] = {astra_value_of_tensor(floats({1}, {1})),
                        astra_value_of_tensor(floats({1}, {2}))};
  astra_tensor_t out{0};
  ASSERT_OK(astra_function_call(runtime, function("add"), stream, nullptr, in,
                                2, &out, 1, &error));
  ASSERT_OK(astra_event_release(runtime, event, &error)); // nothing is lost
  uint32_t state = 9;
  ASSERT_OK(astra_tensor_state(runtime, out, &state, &error));
  EXPECT_EQ(state, uint32_t(ASTRA_TENSOR_PENDING));
  std::thread([&] { foreign.signal(foreign.token, ASTRA_OK); }).join();
  ASSERT_OK(astra_tensor_state(runtime, out, &state, &error));
  EXPECT_EQ(state, uint32_t(ASTRA_TENSOR_READY)); // done on that thread
  EXPECT_EQ(read<float>(out, 1), (std::vector<float>{3}));
}

TEST_F(Process, ForeignEventsFail) {
  Foreign foreign;
  astra_event_t event{0};
  ASSERT_OK(astra_event_import(runtime, &foreign.event, &event, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "of another system",
               astra_event_signal(runtime, event, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "of another system",
               astra_event_record(runtime, event, stream, &error));
  foreign.signal(foreign.token, ASTRA_ERROR_IO);
  EXPECT_FAILS(ASTRA_ERROR_IO, "another system failed with ASTRA_ERROR_IO",
               astra_event_wait(runtime, event, &error));
}

TEST_F(Process, ForeignSystemsMayRefuse) {
  Foreign foreign;
  foreign.answer = ASTRA_ERROR_OUT_OF_RESOURCES;
  astra_event_t event{5};
  uint64_t before = liveHandles();
  EXPECT_FAILS(ASTRA_ERROR_OUT_OF_RESOURCES, "refused to subscribe",
               astra_event_import(runtime, &foreign.event, &event, &error));
  EXPECT_EQ(event.bits, 0u);
  EXPECT_EQ(liveHandles(), before);
  foreign.event.subscribe = nullptr;
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "\"subscribe\"",
               astra_event_import(runtime, &foreign.event, &event, &error));
}

//===-- Two runtimes ------------------------------------------------------===//

class TwoRuntimes : public RuntimeTest {
protected:
  void SetUp() override {
    start(1, nullptr, 1);
    first = runtime;
    firstStream = stream;
    start(2, nullptr, 1);
  }
  void TearDown() override {
    RuntimeTest::TearDown();
    astra_runtime_destroy(first);
  }
  astra_runtime_t *first = nullptr;
  astra_stream_t firstStream{0};
};

TEST_F(TwoRuntimes, DoNotKnowOfEachOther) {
  astra_tensor_t x = floats({2}, {1, 2});
  EXPECT_FAILS(ASTRA_ERROR_INVALID_HANDLE, "another runtime",
               astra_tensor_wait(first, x, &error));
  astra_memory_info_t info;
  ASTRA_INIT(MEMORY_INFO, &info);
  ASSERT_OK(astra_runtime_memory(first, &info, &error));
  EXPECT_EQ(info.live_bytes, 0u);
  astra_module_t here{0}, there{0};
  ASSERT_OK(astra_module_load(runtime, TOY_MODULE, &here, &error));
  ASSERT_OK(astra_module_load(first, TOY_MODULE, &there, &error));
  ASSERT_OK(astra_module_release(first, there, &error));
  astra_function_t add{0};
  ASSERT_OK(astra_module_function(runtime, here, "add", &add, &error));
  astra_value_t in[] = {astra_value_of_tensor(x), astra_value_of_tensor(x)};
  astra_tensor_t out{0};
  ASSERT_OK(astra_function_call(runtime, add, stream, nullptr, in, 2, &out, 1,
                                &error));
  EXPECT_EQ(read<float>(out, 2), (std::vector<float>{2, 4}));
}

/// An event of one runtime as the other's foreign event.
struct Bridge {
  astra_runtime_t *from;
  astra_event_t event;
  void (*signal)(void *token, astra_status_t status);
  void *token;

  static astra_status_t subscribe(void *context,
                                  void (*signal)(void *, astra_status_t),
                                  void *token) {
    auto &self = *static_cast<Bridge *>(context);
    self.signal = signal;
    self.token = token;
    return astra_event_callback(self.from, self.event, tell, &self, nullptr);
  }
  static void tell(void *context, astra_status_t status) {
    auto &self = *static_cast<Bridge *>(context);
    self.signal(self.token, status);
  }
};

TEST_F(TwoRuntimes, WaitForEachOthersWork) {
  // The first runtime's stream is held up, and the second waits for it.
  astra_event_t gate = hostEvent(first), behind{0}, imported{0}, after{0};
  ASSERT_OK(astra_stream_wait_event(first, firstStream, gate, &error));
  ASSERT_OK(astra_event_create(first, nullptr, &behind, &error));
  ASSERT_OK(astra_event_record(first, behind, firstStream, &error));
  Bridge bridge = {first, behind, nullptr, nullptr};
  astra_foreign_event_t foreign;
  ASTRA_INIT(FOREIGN_EVENT, &foreign);
  foreign.context = &bridge;
  foreign.subscribe = Bridge::subscribe;
  ASSERT_OK(astra_event_import(runtime, &foreign, &imported, &error));
  ASSERT_OK(astra_stream_wait_event(runtime, stream, imported, &error));
  ASSERT_OK(astra_event_create(runtime, nullptr, &after, &error));
  ASSERT_OK(astra_event_record(runtime, after, stream, &error));
  uint32_t state = 9;
  ASSERT_OK(astra_event_state(runtime, after, &state, &error));
  EXPECT_EQ(state, uint32_t(ASTRA_TENSOR_PENDING));
  ASSERT_OK(astra_event_signal(first, gate, &error));
  ASSERT_OK(astra_event_wait(runtime, after, &error));
}

} // namespace
