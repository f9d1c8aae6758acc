// Random sequences of the API against a simple model: a tensor is a row of
// numbers or an error, views and parts share its memory, work in a stream is
// done in order, and what is kept in the pool is not missed. ASTRA_MODEL_STEPS
// sets how many steps are taken in one long sequence, ASTRA_MODEL_SEQUENCES how
// many short ones there are, ASTRA_MODEL_SEED where they begin, and
// ASTRA_MODEL_SECONDS after which time no more are begun. A runtime serves a
// few of the short ones in turn, each with streams of its own, and every second
// runtime is destroyed in the middle of the work of the last.
#include "RuntimeTesting.h"
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>

using namespace astra::test;

namespace {

constexpr uint64_t sequencesOfRuntime = 5;

uint64_t fromEnvironment(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// A piece of the work of a stream.
struct Place {
  size_t stream;
  uint64_t position;
};

/// What the model knows of one tensor.
struct Known {
  astra_tensor_t handle{0};
  std::vector<float> values;
  bool failed = false;
  std::vector<Place> work; // that makes it
};

class Model : public RuntimeTest {
protected:
  void SetUp() override {}
  void TearDown() override {}

  void beginRuntime() {
    start(2, nullptr, 2);
    add = function("add");
    twice = function("twice");
    divide = function("divide");
  }

  void begin(uint64_t seed) {
    for (uint64_t flags : {0u, 0u, ASTRA_STREAM_INLINE, ASTRA_STREAM_MANUAL,
                           ASTRA_STREAM_MANUAL}) {
      astra_stream_options_t options;
      ASTRA_INIT(STREAM_OPTIONS, &options);
      options.flags = flags;
      astra_stream_t made{0};
      ASSERT_OK(astra_stream_create(runtime, cpu, &options, &made, &error));
      streams.push_back(made);
    }
    submitted.assign(streams.size(), 0);
    callbacks = 0;
    called = 0;
    random.seed(seed);
  }

  void take(uint64_t steps) {
    for (uint64_t i = 0; i < steps; ++i) {
      step();
      ASSERT_FALSE(HasFatalFailure()) << "at step " << i;
    }
  }

  /// With everything given back.
  void end() {
    for (size_t i = 0; i < streams.size(); ++i)
      drain(i);
    while (!tensors.empty())
      release();
    EXPECT_EQ(called, callbacks);
    for (astra_stream_t made : streams)
      ASSERT_OK(astra_stream_release(runtime, made, &error));
    streams.clear();
    astra_memory_info_t info;
    ASTRA_INIT(MEMORY_INFO, &info);
    ASSERT_OK(astra_runtime_memory(runtime, &info, &error));
    EXPECT_EQ(info.live_bytes, 0u);
    ASSERT_OK(astra_runtime_trim(runtime, 0, &error));
    ASSERT_OK(astra_runtime_memory(runtime, &info, &error));
    EXPECT_EQ(info.kept_bytes, 0u);
  }

  /// Perhaps with work in flight and tensors alive.
  void endRuntime() {
    astra_runtime_destroy(runtime);
    EXPECT_EQ(called, callbacks);
    tensors.clear();
    owners.clear();
    streams.clear();
  }

  size_t pick(size_t below) {
    return std::uniform_int_distribution<size_t>(0, below - 1)(random);
  }
  Known &any() { return tensors[pick(tensors.size())]; }
  void forget(size_t index) {
    std::swap(tensors[index], tensors.back());
    tensors.pop_back();
  }
  Place submit(size_t on) { return {on, ++submitted[on]}; }

  void makeTensor() {
    Known made;
    for (size_t i = 0; i < 4; ++i)
      made.values.push_back(float(pick(1000)));
    made.handle = floats({4}, made.values);
    tensors.push_back(made);
  }

  void callAdd() {
    const Known a = any(), b = any();
    size_t on = pick(streams.size());
    astra_value_t in[] = {astra_value_of_tensor(a.handle),
                          astra_value_of_tensor(b.handle)};
    Known made;
    ASSERT_OK(astra_function_call(runtime, add, streams[on], nullptr, in, 2,
                                  &made.handle, 1, &error));
    made.failed = a.failed || b.failed;
    for (size_t i = 0; i < 4; ++i)
      made.values.push_back(a.values[i] + b.values[i]);
    made.work = {submit(on)};
    tensors.push_back(made);
  }

  /// A donation succeeds just if no view shares the memory.
  void callTwiceDonating() {
    size_t index = pick(tensors.size());
    const Known x = tensors[index];
    size_t on = pick(streams.size());
    astra_value_t in = astra_value_of_tensor(x.handle);
    in.flags = ASTRA_VALUE_DONATE;
    Known made;
    astra_status_t status = astra_function_call(
        runtime, twice, streams[on], nullptr, &in, 1, &made.handle, 1, nullptr);
    ASSERT_EQ(status, sharers(x.handle) > 1 ? ASTRA_ERROR_DONATION : ASTRA_OK);
    if (status != ASTRA_OK)
      return;
    owners.erase(x.handle.bits);
    forget(index);
    made.failed = x.failed;
    for (float value : x.values)
      made.values.push_back(2 * value);
    made.work = {submit(on)};
    tensors.push_back(made);
  }

  void callFailing() {
    size_t on = pick(streams.size());
    astra_tensor_t x = tensor<int32_t>(ASTRA_I32, {4}, {1, 2, 3, 4}), out{0};
    astra_value_t in = astra_value_of_tensor(x);
    ASSERT_OK(astra_function_call(runtime, divide, streams[on], nullptr, &in, 1,
                                  &out, 1, &error));
    ++submitted[on];
    ASSERT_OK(astra_tensor_release(runtime, x, &error));
    ASSERT_OK(astra_tensor_release(runtime, out, &error));
  }

  void cancelledAdd() {
    // Held up by an event, so that nothing of it has begun.
    size_t on = 3 + pick(2); // a manual stream
    drain(on);
    const Known a = any();
    astra_value_t in[] = {astra_value_of_tensor(a.handle),
                          astra_value_of_tensor(a.handle)};
    Known made;
    ASSERT_OK(astra_function_call(runtime, add, streams[on], nullptr, in, 2,
                                  &made.handle, 1, &error));
    ASSERT_OK(astra_stream_cancel(runtime, streams[on], &error));
    made.failed = true;
    made.values.assign(4, 0);
    made.work = {submit(on)};
    tensors.push_back(made);
  }

  void view() {
    const Known from = any();
    Known made = from;
    uint64_t owner = ownerOf(from.handle);
    int64_t start = 3, extent = 4, step = -1; // the row backwards
    ASSERT_OK(astra_tensor_slice(runtime, from.handle, &start, &extent, &step,
                                 &made.handle, &error));
    made.values.assign(from.values.rbegin(), from.values.rend());
    owners[made.handle.bits] = owner;
    tensors.push_back(made);
  }

  /// Two halves of a new tensor are written in two streams. A view over both
  /// fails if either does.
  void partition() {
    int64_t eight = 8, starts[] = {0, 4}, extents[] = {4, 4};
    astra_tensor_t whole{0}, parts[2];
    ASSERT_OK(
        astra_tensor_empty(runtime, cpu, ASTRA_F32, 1, &eight, &whole, &error));
    ASSERT_OK(astra_tensor_partition(runtime, whole, 2, starts, extents,
                                     nullptr, parts, &error));
    Known halves[2], middle;
    for (size_t i = 0; i < 2; ++i) {
      ASSERT_NO_FATAL_FAILURE(pick(2) ? addInto(parts[i], halves[i])
                                      : copyInto(parts[i], halves[i]));
      owners[halves[i].handle.bits] = whole.bits;
      middle.work.push_back(halves[i].work[0]);
      middle.failed |= halves[i].failed;
      for (size_t k = 0; k < 2; ++k)
        middle.values.push_back(halves[i].values[i ? k : 2 + k]);
    }
    int64_t start = 2;
    ASSERT_OK(astra_tensor_slice(runtime, whole, &start, extents, nullptr,
                                 &middle.handle, &error));
    owners[middle.handle.bits] = whole.bits;
    ASSERT_OK(astra_tensor_release(runtime, whole, &error));
    tensors.insert(tensors.end(), {halves[0], halves[1], middle});
  }
  void addInto(astra_tensor_t target, Known &made) {
    const Known a = any(), b = any();
    size_t on = pick(streams.size());
    astra_value_t in[] = {astra_value_of_tensor(a.handle),
                          astra_value_of_tensor(b.handle)};
    astra_call_options_t options;
    ASTRA_INIT(CALL_OPTIONS, &options);
    options.targets = &target;
    options.target_count = 1;
    ASSERT_OK(astra_function_call(runtime, add, streams[on], &options, in, 2,
                                  &made.handle, 1, &error));
    made.failed = a.failed || b.failed;
    for (size_t i = 0; i < 4; ++i)
      made.values.push_back(a.values[i] + b.values[i]);
    made.work = {submit(on)};
  }
  void copyInto(astra_tensor_t target, Known &made) {
    const Known from = any();
    size_t on = pick(streams.size());
    ASSERT_OK(astra_tensor_copy(runtime, streams[on], from.handle, target,
                                &made.handle, &error));
    made.failed = from.failed;
    made.values = from.values;
    made.work = {submit(on)};
  }

  /// A stream waits for what another was told, by an event.
  void acrossStreams() {
    size_t from = pick(streams.size()), to = pick(streams.size());
    astra_event_t event{0};
    ASSERT_OK(astra_event_create(runtime, nullptr, &event, &error));
    ASSERT_OK(astra_event_record(runtime, event, streams[from], &error));
    submit(from);
    ASSERT_OK(astra_stream_wait_event(runtime, streams[to], event, &error));
    submit(to);
    if (pick(4) == 0)
      ASSERT_OK(astra_event_wait(runtime, event, &error));
    ASSERT_OK(astra_event_release(runtime, event, &error));
  }

  void callBack() {
    size_t on = pick(streams.size());
    ASSERT_OK(astra_stream_callback(
        runtime, streams[on],
        [](void *count, astra_status_t) {
          ++*static_cast<std::atomic<uint64_t> *>(count);
        },
        &called, &error));
    submit(on);
    ++callbacks;
  }

  void trim() { ASSERT_OK(astra_runtime_trim(runtime, 64 * pick(16), &error)); }

  /// The other reference keeps the tensor.
  void retainAndRelease() {
    astra_tensor_t handle = any().handle;
    ASSERT_OK(astra_tensor_retain(runtime, handle, &error));
    ASSERT_OK(astra_tensor_release(runtime, handle, &error));
  }

  void read() {
    const Known &known = any();
    std::vector<float> got(4);
    astra_status_t status =
        astra_tensor_read(runtime, known.handle, got.data(), 16, nullptr);
    if (known.failed) {
      ASSERT_TRUE(status == ASTRA_ERROR_POISONED ||
                  status == ASTRA_ERROR_CANCELLED)
          << astra_status_name(status);
      return;
    }
    ASSERT_EQ(status, ASTRA_OK) << astra_status_name(status);
    ASSERT_EQ(got, known.values);
  }

  void checkState() {
    const Known &known = any();
    bool done = true;
    for (const Place &place : known.work) {
      uint64_t completed = 0;
      ASSERT_OK(astra_stream_position(runtime, streams[place.stream], nullptr,
                                      &completed, &error));
      done &= completed >= place.position;
    }
    uint32_t state = 9;
    ASSERT_OK(astra_tensor_state(runtime, known.handle, &state, &error));
    if (done)
      ASSERT_EQ(state, uint32_t(known.failed ? ASTRA_TENSOR_FAILED
                                             : ASTRA_TENSOR_READY));
  }

  void release() {
    size_t index = pick(tensors.size());
    astra_tensor_t handle = tensors[index].handle;
    ASSERT_OK(astra_tensor_release(runtime, handle, &error));
    ASSERT_EQ(astra_tensor_release(runtime, handle, nullptr),
              ASTRA_ERROR_INVALID_HANDLE);
    disown(handle);
    forget(index);
  }

  void drain(size_t on) {
    astra_status_t status = astra_stream_wait(runtime, streams[on], nullptr);
    ASSERT_TRUE(status == ASTRA_OK || status == ASTRA_ERROR_DIVISION_BY_ZERO ||
                status == ASTRA_ERROR_POISONED ||
                status == ASTRA_ERROR_CANCELLED);
    uint64_t in = 0, done = 0;
    ASSERT_OK(astra_stream_position(runtime, streams[on], &in, &done, &error));
    ASSERT_EQ(in, submitted[on]);
    ASSERT_EQ(done, submitted[on]);
  }

  void runByHand() {
    uint64_t done = 0;
    ASSERT_OK(astra_stream_run(runtime, streams[3 + pick(2)], 1 + pick(3),
                               &done, &error));
  }

  // Which tensors share a storage: by the first one that had it.
  uint64_t ownerOf(astra_tensor_t tensor) {
    auto found = owners.find(tensor.bits);
    return found == owners.end() ? tensor.bits : found->second;
  }
  size_t sharers(astra_tensor_t tensor) {
    size_t count = 0;
    for (const Known &known : tensors)
      count += ownerOf(known.handle) == ownerOf(tensor);
    return count;
  }
  void disown(astra_tensor_t tensor) { owners.erase(tensor.bits); }

  void step() {
    if (tensors.size() < 4)
      return makeTensor();
    if (tensors.size() > 40)
      return release();
    switch (pick(24)) {
    case 0:
      return makeTensor();
    case 1:
    case 2:
    case 3:
    case 4:
      return callAdd();
    case 5:
      return callTwiceDonating();
    case 6:
      return callFailing();
    case 7:
      return cancelledAdd();
    case 8:
    case 9:
      return view();
    case 10:
    case 11:
      return read();
    case 12:
      return checkState();
    case 13:
      return runByHand();
    case 14:
      return release();
    case 15:
    case 16:
      return partition();
    case 17:
    case 18:
      return acrossStreams();
    case 19:
      return callBack();
    case 20:
      return trim();
    case 21:
      return retainAndRelease();
    default:
      return drain(pick(streams.size()));
    }
  }

  std::mt19937_64 random;
  astra_function_t add{0}, twice{0}, divide{0};
  std::vector<astra_stream_t> streams;
  std::vector<uint64_t> submitted;
  uint64_t callbacks = 0; // asked for
  std::atomic<uint64_t> called{0};
  std::vector<Known> tensors;
  std::map<uint64_t, uint64_t> owners;
};

TEST_F(Model, AgreesAfterEveryStep) {
  beginRuntime();
  begin(fromEnvironment("ASTRA_MODEL_SEED", 1));
  take(fromEnvironment("ASTRA_MODEL_STEPS", 20000));
  end();
  endRuntime();
}

TEST_F(Model, AgreesInShortSequences) {
  using Clock = std::chrono::steady_clock;
  auto last = Clock::now() + std::chrono::seconds(
                                 fromEnvironment("ASTRA_MODEL_SECONDS", 86400));
  uint64_t count = fromEnvironment("ASTRA_MODEL_SEQUENCES", 100);
  uint64_t seed = fromEnvironment("ASTRA_MODEL_SEED", 1), done = 0;
  for (uint64_t runtimes = 1;
       done < count && !HasFailure() && Clock::now() < last; ++runtimes) {
    beginRuntime();
    for (uint64_t left = sequencesOfRuntime; left-- && !HasFailure(); ++done) {
      SCOPED_TRACE(seed + done);
      begin(seed + done);
      take(30);
      if (left || runtimes % 2)
        end();
    }
    endRuntime();
  }
  RecordProperty("sequences", std::to_string(done));
  std::printf("%llu sequences\n", static_cast<unsigned long long>(done));
}

} // namespace
