// Bad input, one case at a time: each must be refused with its status and a
// sentence that names the thing. Handles of every sort are SurfaceTest's.
#include "../RuntimeTesting.h"

using namespace astra::test;

namespace {

/// What the cases are made of.
class Bench : public RuntimeTest {
public:
  void SetUp() override { RuntimeTest::SetUp(); }
  void TearDown() override { RuntimeTest::TearDown(); }
  void TestBody() override {}

  using RuntimeTest::cpu;
  using RuntimeTest::empty;
  using RuntimeTest::floats;
  using RuntimeTest::function;
  using RuntimeTest::makeEvent;
  using RuntimeTest::makeStream;
  using RuntimeTest::runtime;
  using RuntimeTest::stream;
  using RuntimeTest::tensor;
  using RuntimeTest::toy;

  astra_status_t make(uint32_t dtype, std::vector<int64_t> shape,
                      astra_error_t **error) {
    return astra_tensor_empty(runtime, cpu, dtype, uint32_t(shape.size()),
                              shape.data(), &out, error);
  }
  astra_status_t call(const char *name, std::vector<astra_value_t> in,
                      astra_error_t **error,
                      const astra_call_options_t *options = nullptr,
                      size_t outputs = 1) {
    astra_tensor_t made[2] = {{0}, {0}};
    astra_status_t status =
        astra_function_call(runtime, function(name), stream, options, in.data(),
                            in.size(), made, outputs, error);
    out = made[0];
    return status;
  }
  astra_status_t slice(astra_tensor_t of, std::vector<int64_t> starts,
                       std::vector<int64_t> extents, astra_error_t **error) {
    return astra_tensor_slice(runtime, of, starts.data(), extents.data(),
                              nullptr, &out, error);
  }
  astra_status_t split(astra_tensor_t of, std::vector<int64_t> starts,
                       std::vector<int64_t> extents, std::vector<int64_t> steps,
                       astra_error_t **error) {
    std::vector<astra_tensor_t> parts;
    return RuntimeTest::split(of, starts, extents, starts.size(), parts, error,
                              steps);
  }
  astra_status_t map(astra_tensor_t of, uint32_t access, astra_error_t **error,
                     uint64_t first = 0, uint64_t count = ASTRA_WHOLE) {
    void *data = nullptr;
    size_t bytes = 0;
    return astra_tensor_map(runtime, of, {0}, access, first, count, &mapping,
                            &data, &bytes, error);
  }
  astra_status_t readInto(astra_tensor_t from, size_t bytes,
                          astra_error_t **error) {
    char buffer[64];
    return astra_tensor_read(runtime, from, buffer, bytes, error);
  }
  /// The result of work that failed.
  astra_tensor_t failed() {
    EXPECT_EQ(
        call("divide",
             {astra_value_of_tensor(tensor<int32_t>(ASTRA_I32, {2}, {1, 0}))},
             nullptr),
        ASTRA_OK);
    return out;
  }
  astra_status_t createEvent(const astra_event_options_t &options,
                             astra_error_t **error) {
    astra_event_t made{0};
    return astra_event_create(runtime, &options, &made, error);
  }
  astra_status_t donateShared(astra_error_t **error) {
    astra_value_t x = astra_value_of_tensor(floats({2}, {1, 2}));
    astra_tensor_retain(runtime, x.as.tensor, nullptr);
    x.flags = ASTRA_VALUE_DONATE;
    return call("twice", {x}, error);
  }
  astra_status_t callInto(astra_tensor_t target, astra_error_t **error) {
    return twiceInto(stream, floats({2}, {1, 2}), target, &out, error);
  }
  astra_status_t copyInto(astra_tensor_t from, astra_tensor_t into,
                          astra_error_t **error) {
    return astra_tensor_copy(runtime, stream, from, into, &out, error);
  }
  astra_tensor_t onNull() {
    astra_device_t null{0};
    EXPECT_EQ(astra_device_open(runtime, "null", &null, nullptr), ASTRA_OK);
    std::swap(null, cpu);
    astra_tensor_t made = floats({2}, {1, 2});
    std::swap(null, cpu);
    return made;
  }
  astra_borrow_t borrow(float *buffer, size_t bytes) {
    static const int64_t shape[] = {2};
    astra_borrow_t made;
    ASTRA_INIT(BORROW, &made);
    made.device = cpu;
    made.dtype = ASTRA_F32;
    made.rank = 1;
    made.shape = shape;
    made.buffer = buffer;
    made.buffer_bytes = bytes;
    return made;
  }

  astra_tensor_t out{0};
  astra_mapping_t mapping{0};
};

struct Case {
  const char *name;
  astra_status_t code;
  const char *text;
  astra_status_t (*run)(Bench &t, astra_error_t **error);
};

#define CASE(NAME, CODE, TEXT, ...)                                            \
  {                                                                            \
    NAME, ASTRA_ERROR_##CODE, TEXT,                                            \
        [](Bench &t, astra_error_t **error) -> astra_status_t { __VA_ARGS__ }  \
  }

astra_event_options_t eventOptions() {
  astra_event_options_t options;
  ASTRA_INIT(EVENT_OPTIONS, &options);
  return options;
}

const Case structs[] = {
    CASE("StructOfAnotherType", INVALID_STRUCT, "must have type 11",
         auto o = eventOptions();
         o.chain.type = ASTRA_STRUCT_BORROW; return t.createEvent(o, error);),
    CASE("StructThatIsTooSmall", INVALID_STRUCT, "struct_size",
         auto o = eventOptions();
         o.chain.struct_size = 8; return t.createEvent(o, error);),
    CASE("StructThatIsTooLarge", INVALID_STRUCT, "which no version has",
         auto o = eventOptions();
         o.chain.struct_size = size_t(1) << 40;
         return t.createEvent(o, error);),
    CASE(
        "StructWithMembersFromTheFuture", INVALID_STRUCT, "does not know",
        struct {
          astra_event_options_t o;
          uint64_t more;
        } future;
        future.o = eventOptions(); future.more = 1;
        future.o.chain.struct_size = sizeof future;
        return t.createEvent(future.o, error);),
    CASE("StructWithReservedSet", INVALID_STRUCT, "reserved 0",
         auto o = eventOptions();
         o.chain.reserved = 1; return t.createEvent(o, error);),
    CASE("StructWithAnUnknownOneInItsChain", INVALID_STRUCT, "type 77",
         auto o = eventOptions();
         astra_chain_t next = {77, 0, 24, nullptr}; o.chain.next = &next;
         return t.createEvent(o, error);),
};

const Case flags[] = {
    CASE("UnknownEventFlags", INVALID_ARGUMENT, "event flags 8",
         auto o = eventOptions();
         o.flags = 8; return t.createEvent(o, error);),
    CASE("UnknownStreamFlags", INVALID_ARGUMENT, "stream flags 64",
         astra_stream_options_t o;
         ASTRA_INIT(STREAM_OPTIONS, &o); o.flags = 64; astra_stream_t made;
         return astra_stream_create(t.runtime, t.cpu, &o, &made, error);),
    CASE("StreamFlagsThatExcludeEachOther", INVALID_ARGUMENT, "stream flags 3",
         astra_stream_options_t o;
         ASTRA_INIT(STREAM_OPTIONS, &o); o.flags = 3; astra_stream_t made;
         return astra_stream_create(t.runtime, t.cpu, &o, &made, error);),
    CASE("UnknownCallFlags", INVALID_ARGUMENT, "call flags 2",
         astra_call_options_t o;
         ASTRA_INIT(CALL_OPTIONS, &o); o.flags = 2;
         return t.call("passes", {}, error, &o, 0);),
    CASE("UnknownValueFlags", INVALID_ARGUMENT, "flags 16 of input \"x\"",
         auto x = astra_value_of_tensor(t.floats({2}, {1, 2}));
         x.flags = 16; return t.call("twice", {x}, error);),
    CASE("UnknownAccess", INVALID_ARGUMENT, "access 4",
         return t.map(t.empty({2}), 4, error);),
    CASE("UnknownCpuLevel", INVALID_ARGUMENT, "cpu_level 99",
         astra_runtime_options_t o;
         ASTRA_INIT(RUNTIME_OPTIONS, &o); o.cpu_level = 99;
         astra_runtime_t *made = nullptr;
         return astra_runtime_create(&o, &made, error);),
    CASE("TooManyThreads", INVALID_ARGUMENT, "threads is 5000",
         astra_runtime_options_t o;
         ASTRA_INIT(RUNTIME_OPTIONS, &o); o.threads = 5000;
         astra_runtime_t *made = nullptr;
         return astra_runtime_create(&o, &made, error);),
};

const Case tensors[] = {
    CASE("UnknownDtype", INVALID_ARGUMENT, "is not a dtype",
         return t.make(ASTRA_DTYPE(ASTRA_CLASS_FP8, 8), {2}, error);),
    CASE("RankAboveTheHighest", INVALID_ARGUMENT, "rank 17",
         return t.make(ASTRA_F32, std::vector<int64_t>(17, 1), error);),
    CASE("NegativeExtent", INVALID_ARGUMENT, "the extent of axis 1 is -1",
         return t.make(ASTRA_F32, {2, -1}, error);),
    CASE(
        "ShapeBeyondSixtyThreeBits", OVERFLOW, "more bytes than 63 bits",
        return t.make(ASTRA_F32, {int64_t(1) << 40, int64_t(1) << 40}, error);),
    CASE("TensorThatDoesNotFit", OUT_OF_MEMORY, "there is no memory",
         return t.make(ASTRA_F32, {int64_t(1) << 56}, error);),
    CASE("DataOfAnotherSize", COUNT_MISMATCH,
         "has 8 bytes, but the buffer has 7", int64_t shape[] = {2};
         float data[2] = {}; return astra_tensor_from_data(
             t.runtime, t.cpu, ASTRA_F32, 1, shape, data, 7, &t.out, error);),
    CASE("BoolThatIsNeitherZeroNorOne", INVALID_ARGUMENT, "element 1 of a bool",
         int64_t shape[] = {2};
         uint8_t data[2] = {1, 2}; return astra_tensor_from_data(
             t.runtime, t.cpu, ASTRA_BOOL, 1, shape, data, 2, &t.out, error);),
    CASE("BorrowedBufferThatIsTooShort", OUT_OF_RANGE,
         "lie at positions 0 to 1", float data[2];
         auto b = t.borrow(data, 4);
         return astra_tensor_borrow(t.runtime, &b, &t.out, error);),
    CASE("BorrowedBufferThatIsNotAligned", INVALID_ARGUMENT, "not aligned",
         alignas(4) char data[12];
         auto b = t.borrow(reinterpret_cast<float *>(data + 1), 8);
         return astra_tensor_borrow(t.runtime, &b, &t.out, error);),
    CASE("BufferOfAnotherSize", COUNT_MISMATCH, "the buffer has 4",
         return t.readInto(t.floats({2}, {1, 2}), 4, error);),
    CASE("SliceThatLeavesItsAxis", OUT_OF_RANGE, "leaves its extent, 2",
         return t.slice(t.floats({2}, {1, 2}), {1}, {2}, error);),
    CASE("ReshapeToAnotherCount", SHAPE_MISMATCH, "has 2 elements, but [3]",
         int64_t shape[] = {3};
         return astra_tensor_reshape(t.runtime, t.floats({2}, {1, 2}), 1, shape,
                                     &t.out, error);),
    CASE("TransposeByWhatIsNoPermutation", INVALID_ARGUMENT, "entry 1",
         uint32_t order[] = {0, 0};
         return astra_tensor_transpose(t.runtime, t.floats({1, 2}, {1, 2}),
                                       order, &t.out, error);),
    CASE("RangeThatLeavesTheTensor", OUT_OF_RANGE, "the range of 2 elements",
         return t.map(t.floats({2}, {1, 2}), ASTRA_MAP_READ, error, 1, 2);),
    CASE("WritingWhatOthersSee", BUSY, "cannot be written",
         return t.map(t.floats({2}, {1, 2}), ASTRA_MAP_WRITE, error);),
    CASE("WritingTwiceAtOnce", BUSY, "mapped for writing already",
         auto x = t.empty({2});
         t.map(x, ASTRA_MAP_WRITE, nullptr);
         return t.map(x, ASTRA_MAP_WRITE, error);),
    CASE("ReadingWhatIsBeingWritten", BUSY, "unmap it first",
         auto x = t.empty({2});
         t.map(x, ASTRA_MAP_WRITE, nullptr); return t.readInto(x, 8, error);),
};

const Case partitions[] = {
    CASE("PartsThatOverlap", INVALID_ARGUMENT,
         "the parts 0 [0..2] and 1 [1..3]",
         return t.split(t.empty({4}), {0, 1}, {2, 2}, {}, error);),
    CASE("PartsThatInterleaveAndMeet", INVALID_ARGUMENT, "the parts 0",
         return t.split(t.empty({9}), {0, 0}, {4, 3}, {2, 3}, error);),
    CASE("PartWithAnElementTwice", INVALID_ARGUMENT, "written twice",
         return t.split(t.empty({4}), {0}, {2}, {0}, error);),
    CASE("PartThatLeavesTheTensor", OUT_OF_RANGE, "part 1: the slice",
         return t.split(t.empty({4}), {0, 3}, {2, 2}, {}, error);),
    CASE("NoParts", INVALID_ARGUMENT, "not 0",
         return t.split(t.empty({4}), {}, {}, {}, error);),
    CASE("PartsOfWhatOthersSee", BUSY, "cannot be written",
         return t.split(t.floats({2}, {1, 2}), {0}, {1}, {}, error);),
    CASE("ReadingBeforeThePartsAreWritten", BUSY, "1 part of the tensor",
         auto x = t.empty({4});
         t.split(x, {0}, {2}, {}, nullptr); return t.readInto(x, 16, error);),
    CASE("CopyOfAnotherDtype", DTYPE_MISMATCH, "a tensor of i32",
         return t.copyInto(t.tensor<int32_t>(ASTRA_I32, {2}, {1, 2}),
                           t.empty({2}), error);),
    CASE("CopyOfAnotherShape", SHAPE_MISMATCH, "[2] cannot be copied into",
         return t.copyInto(t.floats({2}, {1, 2}), t.empty({3}), error);),
    CASE("CopyOfAnotherDevice", DEVICE_MISMATCH, "\"null\"",
         return t.copyInto(t.onNull(), t.empty({2}), error);),
    CASE("CopyIntoWhatOthersSee", BUSY, "cannot be written",
         return t.copyInto(t.floats({2}, {1, 2}), t.floats({2}, {1, 2}),
                           error);),
};

const Case calls[] = {
    CASE("InputOfAnotherDtype", DTYPE_MISMATCH, "\"x\" is i32, but f32[n]",
         return t.call(
             "twice",
             {astra_value_of_tensor(t.tensor<int32_t>(ASTRA_I32, {2}, {1, 2}))},
             error);),
    CASE("InputOfAnotherRank", SHAPE_MISMATCH, "has rank 2",
         return t.call("twice",
                       {astra_value_of_tensor(t.floats({1, 2}, {1, 2}))},
                       error);),
    CASE("InputOfAnotherExtent", SHAPE_MISMATCH, "axis 0",
         return t.call("add",
                       {astra_value_of_tensor(t.floats({2}, {1, 2})),
                        astra_value_of_tensor(t.floats({1}, {1}))},
                       error);),
    CASE("InputOnAnotherDevice", DEVICE_MISMATCH, "on the device \"null\"",
         return t.call("twice", {astra_value_of_tensor(t.onNull())}, error);),
    CASE("TooFewInputs", COUNT_MISMATCH, "takes 2 inputs, but 0",
         return t.call("add", {}, error);),
    CASE("TooManyOutputs", COUNT_MISMATCH, "room for 2",
         return t.call("passes", {}, error, nullptr, 2);),
    CASE("DonationOfWhatIsShared", DONATION, "another reference",
         return t.donateShared(error);),
    CASE("DonationOfAScalar", INVALID_ARGUMENT, "cannot be donated",
         auto s = astra_value_of_f32(1);
         s.flags = ASTRA_VALUE_DONATE; return t.call(
             "shift",
             {astra_value_of_tensor(t.floats({1, 4}, {1, 2, 3, 4})), s}, error,
             nullptr, 2);),
    CASE("TargetThatOthersSee", BUSY, "the target of output",
         return t.callInto(t.floats({2}, {1, 2}), error);),
    CASE("TargetOfAnotherShape", SHAPE_MISMATCH, "has shape [3], but [2]",
         return t.callInto(t.empty({3}), error);),
    CASE("CallOnADeviceThatRunsNothing", UNIMPLEMENTED, "runs no functions",
         astra_device_t null{0};
         astra_device_open(t.runtime, "null", &null, nullptr);
         astra_stream_create(t.runtime, null, nullptr, &t.stream, nullptr);
         return t.call("passes", {}, error, nullptr, 0);),
    CASE("FunctionThatDoesNotExist", NOT_FOUND, "it has: shift",
         astra_function_t f;
         return astra_module_function(t.runtime, t.toy, "nothing", &f, error);),
    CASE("DeviceThatDoesNotExist", MISSING_DEVICE,
         "this machine has: cpu, null", astra_device_t d;
         return astra_device_open(t.runtime, "abacus", &d, error);),
    CASE("ModuleThatDoesNotExist", IO, "no-such-module", astra_module_t m;
         return astra_module_load(t.runtime, "no-such-module.so", &m, error);),
    CASE("ModuleOfTheFuture", UNSUPPORTED_VERSION, "99", astra_module_t m;
         return astra_module_load(t.runtime, TOY_FUTURE_MODULE, &m, error);),
    CASE("DescriptorThatIsNone", CORRUPT_FILE, "", astra_module_t m;
         alignas(8) char bytes[512] = "not a descriptor";
         return astra_module_link(
             t.runtime, reinterpret_cast<const astra_module_desc *>(bytes), &m,
             error);),
};

const Case work[] = {
    CASE("ReadingAFailedPromise", DIVISION_BY_ZERO, "by 0",
         return t.readInto(t.failed(), 8, error);),
    CASE("MappingAFailedPromise", DIVISION_BY_ZERO, "by 0",
         return t.map(t.failed(), ASTRA_MAP_READ, error);),
    CASE("SavingAFailedPromise", DIVISION_BY_ZERO, "by 0",
         return astra_npy_save(t.runtime, "never-written.npy", t.failed(),
                               error);),
    CASE(
        "ExchangingAFailedPromise", DIVISION_BY_ZERO, "by 0",
        DLManagedTensorVersioned *managed = nullptr;
        return astra_tensor_to_dlpack(t.runtime, t.failed(), &managed, error);),
    CASE("WorkOnAFailedPromise", POISONED, "work that failed",
         t.call("divide", {astra_value_of_tensor(t.failed())}, nullptr);
         return astra_tensor_wait(t.runtime, t.out, error);),
    CASE("ReadingWhatWasCancelled", CANCELLED, "cancelled before it began",
         t.stream = t.makeStream(ASTRA_STREAM_MANUAL);
         t.call("twice", {astra_value_of_tensor(t.floats({2}, {1, 2}))},
                nullptr);
         astra_stream_cancel(t.runtime, t.stream, nullptr);
         return t.readInto(t.out, 8, error);),
    CASE("RunningAStreamThatRunsItself", INVALID_ARGUMENT,
         "ASTRA_STREAM_MANUAL",
         return astra_stream_run(t.runtime, t.stream, 1, nullptr, error);),
    CASE("SignallingTwice", BUSY, "signalled already",
         auto e = t.makeEvent(ASTRA_EVENT_HOST);
         astra_event_signal(t.runtime, e, nullptr);
         return astra_event_signal(t.runtime, e, error);),
    CASE("SignallingAStreamsEvent", INVALID_ARGUMENT, "ASTRA_EVENT_HOST",
         return astra_event_signal(t.runtime, t.makeEvent(), error);),
    CASE("RecordingAHostsEvent", INVALID_ARGUMENT, "not recorded in streams",
         return astra_event_record(t.runtime, t.makeEvent(ASTRA_EVENT_HOST),
                                   t.stream, error);),
    CASE("WaitingForWhatWasNotRecorded", NOT_READY, "not been recorded",
         return astra_event_wait(t.runtime, t.makeEvent(), error);),
    CASE("TimeToAnEventThatIsPending", NOT_READY, "is pending",
         auto a = t.makeEvent(ASTRA_EVENT_HOST),
         b = t.makeEvent(ASTRA_EVENT_HOST);
         astra_event_signal(t.runtime, a, nullptr); int64_t time = 0;
         return astra_event_elapsed(t.runtime, a, b, &time, error);),
    CASE("WaitingForAnEventThatWasDropped", CANCELLED,
         "before it was signalled", auto e = t.makeEvent(ASTRA_EVENT_HOST);
         astra_stream_wait_event(t.runtime, t.stream, e, nullptr);
         astra_event_release(t.runtime, e, nullptr);
         return astra_stream_wait(t.runtime, t.stream, error);),
};

class Refusal : public ::testing::TestWithParam<Case> {};

TEST_P(Refusal, HasAStatusAndASentence) {
  Bench bench;
  bench.SetUp();
  astra_error_t *error = nullptr;
  EXPECT_EQ(GetParam().run(bench, &error), GetParam().code);
  EXPECT_EQ(astra_error_status(error), GetParam().code);
  std::string message = takeMessage(error);
  EXPECT_NE(message, "");
  EXPECT_NE(message.find(GetParam().text), std::string::npos) << message;
  // The runtime is as usable as before.
  astra_value_t x = astra_value_of_tensor(bench.floats({2}, {1, 2}));
  bench.stream = bench.makeStream();
  EXPECT_EQ(bench.call("twice", {x}, nullptr), ASTRA_OK);
  EXPECT_EQ(bench.readInto(bench.out, 8, nullptr), ASTRA_OK);
  bench.TearDown();
}

const auto nameOf = [](const ::testing::TestParamInfo<Case> &info) {
  return std::string(info.param.name);
};
INSTANTIATE_TEST_SUITE_P(Structs, Refusal, ::testing::ValuesIn(structs),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Flags, Refusal, ::testing::ValuesIn(flags), nameOf);
INSTANTIATE_TEST_SUITE_P(Tensors, Refusal, ::testing::ValuesIn(tensors),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Partitions, Refusal, ::testing::ValuesIn(partitions),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Calls, Refusal, ::testing::ValuesIn(calls), nameOf);
INSTANTIATE_TEST_SUITE_P(Work, Refusal, ::testing::ValuesIn(work), nameOf);

//===-- Unloading with work in flight -------------------------------------===//

/// Work that waits for the host's word.
class InFlight : public RuntimeTest {
protected:
  void SetUp() override {
    start(1, nullptr, 1);
    astra_event_options_t options = eventOptions();
    options.flags = ASTRA_EVENT_HOST;
    ASSERT_OK(astra_event_create(runtime, &options, &gate, &error));
    ASSERT_OK(astra_module_load(runtime, TOY_MODULE, &loaded, &error));
    ASSERT_OK(astra_module_function(runtime, loaded, "add", &add, &error));
    ASSERT_OK(astra_stream_wait_event(runtime, stream, gate, &error));
    astra_value_t in[] = {astra_value_of_tensor(floats({1}, {1})),
                          astra_value_of_tensor(floats({1}, {2}))};
    ASSERT_OK(astra_function_call(runtime, add, stream, nullptr, in, 2, &out, 1,
                                  &error));
  }
  astra_event_t gate{0};
  astra_module_t loaded{0};
  astra_function_t add{0};
  astra_tensor_t out{0};
};

TEST_F(InFlight, WorkKeepsWhatWasReleased) {
  ASSERT_OK(astra_function_release(runtime, add, &error));
  ASSERT_OK(astra_module_release(runtime, loaded, &error));
  ASSERT_OK(astra_stream_release(runtime, stream, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_HANDLE, "released or used up",
               astra_stream_wait(runtime, stream, &error));
  ASSERT_OK(astra_event_signal(runtime, gate, &error));
  EXPECT_EQ(read<float>(out, 1), (std::vector<float>{3}));
}

TEST_F(InFlight, TheEndOfTheRuntimeCancelsIt) {
  astra_status_t ended = 77;
  ASSERT_OK(astra_tensor_callback(
      runtime, out,
      [](void *context, astra_status_t status, const astra_error_t *error) {
        *static_cast<astra_status_t *>(context) =
            *astra_error_message(error) ? status : 78;
      },
      &ended, &error));
  astra_runtime_destroy(runtime);
  runtime = nullptr;
  EXPECT_EQ(ended, ASTRA_ERROR_CANCELLED);
}

} // namespace
