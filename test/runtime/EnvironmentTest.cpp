// What the program and the system around a runtime do: signals, an allocator
// and threads of the program's own that behave badly, files with modes and long
// names, texts that are not UTF-8, and programs that are started meanwhile.
#include "RuntimeTesting.h"
#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace astra::test;

namespace {

class Environment : public RuntimeTest {
protected:
  void SetUp() override {}

  /// A runtime with these options, which gets the usual device and stream.
  void startWith(const astra_runtime_options_t &options) {
    ASSERT_OK(astra_runtime_create(&options, &runtime, &error));
    ASSERT_OK(astra_device_open(runtime, "cpu", &cpu, &error));
    ASSERT_OK(astra_stream_create(runtime, cpu, nullptr, &stream, &error));
    ASSERT_OK(astra_module_link(runtime, &astra_module_toy, &toy, &error));
  }
};

/// The blocked signals of every thread but this one, a mask for each.
std::vector<uint64_t> blockedOfOthers() {
  std::vector<uint64_t> masks;
  for (const auto &task :
       std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == std::to_string(gettid()))
      continue;
    std::ifstream status(task.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (line.rfind("SigBlk:", 0) == 0)
        masks.push_back(std::stoull(line.substr(7), nullptr, 16));
    }
  }
  return masks;
}

TEST_F(Environment, SignalsOfTheProgramDoNotArriveOnTheRuntimesThreads) {
  size_t before = blockedOfOthers().size(); // a sanitizer's own thread
  start(3, nullptr, 2);
  auto countQuiet = [] {
    int quiet = 0;
    for (uint64_t mask : blockedOfOthers()) {
      auto blocks = [&](int signal) { return mask >> (signal - 1) & 1; };
      quiet += blocks(SIGTERM) && blocks(SIGINT) && blocks(SIGUSR1) &&
               !blocks(SIGSEGV) && !blocks(SIGFPE) && !blocks(SIGPROF);
    }
    return quiet;
  };
  ASSERT_EQ(blockedOfOthers().size(), before + 4);
  // The system blocks all signals of a thread that is just being made.
  for (int wait = 0; wait < 1000 && countQuiet() < 4; ++wait)
    usleep(1000);
  EXPECT_EQ(countQuiet(), 4);
  sigset_t mine;
  pthread_sigmask(SIG_SETMASK, nullptr, &mine);
  EXPECT_FALSE(sigismember(&mine, SIGTERM));
}

TEST_F(Environment, AllocatorsThatDoNotAlignAreRefused) {
  static int live;
  live = 0;
  astra_allocator_t crooked = {
      nullptr,
      [](void *, size_t bytes, size_t alignment) -> void * {
        ++live;
        return static_cast<char *>(std::aligned_alloc(
                   alignment, (bytes + 2 * alignment - 1) & -alignment)) +
               4;
      },
      [](void *, void *memory, size_t, size_t) {
        --live;
        std::free(static_cast<char *>(memory) - 4);
      }};
  start(1, &crooked);
  int64_t extent = 100;
  astra_tensor_t made{0};
  EXPECT_FAILS(
      ASTRA_ERROR_OUT_OF_MEMORY, "not aligned to 64 bytes",
      astra_tensor_empty(runtime, cpu, ASTRA_F32, 1, &extent, &made, &error));
  EXPECT_EQ(live, 0);
}

TEST_F(Environment, ThreadsOfTheProgramThatDoNothingChangeNoResult) {
  astra_workers_t idle = {
      nullptr, [](void *, uint32_t, void (*)(void *, uint32_t), void *) {}};
  astra_runtime_options_t options;
  ASTRA_INIT(RUNTIME_OPTIONS, &options);
  options.threads = 4;
  options.workers = &idle;
  startWith(options);
  const int64_t count = 1 << 20; // enough to be shared out
  std::vector<float> ones(size_t(count), 1);
  astra_tensor_t x = floats({count}, ones), out{0};
  astra_value_t in[] = {astra_value_of_tensor(x), astra_value_of_tensor(x)};
  ASSERT_OK(astra_function_call(runtime, function("add"), stream, nullptr, in,
                                2, &out, 1, &error));
  EXPECT_EQ(read<float>(out, size_t(count)),
            std::vector<float>(size_t(count), 2));
}

TEST_F(Environment, ALimitThatSufficesIsEnoughForAllThreadsTogether) {
  astra_runtime_options_t options;
  ASTRA_INIT(RUNTIME_OPTIONS, &options);
  const int64_t block = int64_t(1) << 20;
  options.memory_limit = uint64_t(3 * block);
  startWith(options);
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int id = 0; id < 3; ++id)
    threads.emplace_back([&, id] {
      for (int i = 0; i < 3000; ++i) {
        int64_t extent = block >> ((i + id) % 3 * 2); // other size classes
        astra_tensor_t made{0};
        failures += astra_tensor_empty(runtime, cpu, ASTRA_U8, 1, &extent,
                                       &made, nullptr) != ASTRA_OK;
        astra_tensor_release(runtime, made, nullptr);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
}

TEST_F(Environment, ALimitCountsWholeBlocksAndSaysSo) {
  astra_runtime_options_t options;
  ASTRA_INIT(RUNTIME_OPTIONS, &options);
  options.memory_limit = 1100000;
  startWith(options);
  int64_t extent = 1050000;
  astra_tensor_t made{0};
  EXPECT_FAILS(
      ASTRA_ERROR_OUT_OF_MEMORY,
      "(a block of 1310720; the runtime's memory limit is 1100000 bytes",
      astra_tensor_empty(runtime, cpu, ASTRA_U8, 1, &extent, &made, &error));
}

TEST_F(Environment, FilesKeepTheirModeAndMayHaveLongNames) {
  start(1);
  std::string path(250, 'n'); // of at most 255
  astra_tensor_t x = floats({2}, {1, 2});
  ASSERT_OK(astra_npy_save(runtime, path.c_str(), x, &error));
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  ASSERT_OK(astra_npy_save(runtime, path.c_str(), x, &error));
  struct stat status = {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(unlink(path.c_str()), 0);
}

TEST_F(Environment, BackEndsThatAreNoFilesAreRefused) {
  start(1);
  std::string path = "pipe-" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_FAILS(ASTRA_ERROR_IO, "not a regular file",
               astra_backend_load(runtime, path.c_str(), &error));
  EXPECT_EQ(unlink(path.c_str()), 0);
}

TEST_F(Environment, DescriptorsAreNotInherited) {
  start(1);
  astra_event_options_t options;
  ASTRA_INIT(EVENT_OPTIONS, &options);
  options.flags = ASTRA_EVENT_HOST; // not done, so that it is still watched
  astra_event_t event{0};
  ASSERT_OK(astra_event_create(runtime, &options, &event, &error));
  int exported = -1, found = 0;
  ASSERT_OK(astra_event_export_fd(runtime, event, &exported, &error));
  for (const auto &entry :
       std::filesystem::directory_iterator("/proc/self/fd")) {
    int fd = std::stoi(entry.path().filename());
    std::error_code error;
    if (std::filesystem::read_symlink(entry.path(), error)
            .string()
            .find("eventfd") == std::string::npos)
      continue;
    ++found;
    EXPECT_TRUE(fcntl(fd, F_GETFD) & FD_CLOEXEC) << fd;
  }
  EXPECT_EQ(found, 2); // the program's and the runtime's
  close(exported);
}

TEST_F(Environment, BoolsThatAreBorrowedAreChecked) {
  start(1);
  uint8_t bytes[] = {1, 0, 7, 1};
  int64_t extent = 2, stride = 2;
  astra_borrow_t borrow;
  ASTRA_INIT(BORROW, &borrow);
  borrow.device = cpu;
  borrow.dtype = ASTRA_BOOL;
  borrow.rank = 1;
  borrow.shape = &extent;
  borrow.strides = &stride;
  borrow.buffer = bytes;
  borrow.buffer_bytes = sizeof bytes;
  astra_tensor_t made{0};
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "element 1 of a bool tensor is 7",
               astra_tensor_borrow(runtime, &borrow, &made, &error));
  borrow.offset = 1; // 0 and 1
  ASSERT_OK(astra_tensor_borrow(runtime, &borrow, &made, &error));
}

TEST_F(Environment, StridesOfNoElementsDoNotOverflow) {
  start(1);
  int64_t shape[] = {0, 3}, strides[] = {INT64_MAX, INT64_MAX};
  astra_borrow_t borrow;
  ASTRA_INIT(BORROW, &borrow);
  borrow.device = cpu;
  borrow.dtype = ASTRA_F32;
  borrow.rank = 2;
  borrow.shape = shape;
  borrow.strides = strides;
  astra_tensor_t made{0}, view{0};
  ASSERT_OK(astra_tensor_borrow(runtime, &borrow, &made, &error));
  int64_t starts[] = {0, 1}, extents[] = {0, 2}, steps[] = {1, 1};
  ASSERT_OK(
      astra_tensor_slice(runtime, made, starts, extents, steps, &view, &error));
}

} // namespace
