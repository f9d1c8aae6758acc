// astra.hpp: owners give everything back, results hold values or errors, and
// calls do what they do in C.
#include "RuntimeTesting.h"
#include "astra/astra.hpp"
#include <memory>
#include <unistd.h>

namespace {

/// The C++ wrapper beside the C runtime of the other tests.
class Wrapper : public astra::test::RuntimeTest {
protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    owner = astra::Runtime::create().value();
    device = owner.device().value();
    work = owner.stream(device).value();
    module = owner.link(&astra_module_toy).value();
  }
  void TearDown() override {
    module = {};
    work = {};
    device = {};
    owner = {};
    RuntimeTest::TearDown();
  }
  uint64_t handles() {
    astra_memory_info_t info;
    ASTRA_INIT(MEMORY_INFO, &info);
    EXPECT_EQ(astra_runtime_memory(owner.get(), &info, nullptr), ASTRA_OK);
    return info.live_handles;
  }

  astra::Runtime owner;
  astra::Device device;
  astra::Stream work;
  astra::Module module;
};

TEST_F(Wrapper, CallsAFunction) {
  uint64_t before = handles();
  {
    astra::Function shift = module.function("shift").value();
    astra::Tensor x =
        astra::Tensor::from<float>(device, {1, 2, 3, 4}, {1, 4}).value();
    std::vector<astra::Tensor> results = shift.call(work, {x, 0.5f}).value();
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(results[0].read<float>().value(),
              (std::vector<float>{1.5f, 2.5f, 3.5f, 4.5f}));
    EXPECT_EQ(results[0].shape().value(), (std::vector<int64_t>{1, 4}));
    EXPECT_EQ(results[0].dtype().value(), ASTRA_F32);
    EXPECT_EQ(results[1].read<int64_t>().value(), (std::vector<int64_t>{1}));
    EXPECT_TRUE(work.wait());
  }
  EXPECT_EQ(handles(), before);
}

TEST_F(Wrapper, GivesErrorsAsValuesAndExceptions) {
  astra::Result<astra::Function> missing = module.function("nothing");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().status(), ASTRA_ERROR_NOT_FOUND);
  EXPECT_NE(missing.error().message().find("has no function \"nothing\""),
            std::string::npos);
  EXPECT_THROW(missing.value(), astra::Error);

  astra::Function divide = module.function("divide").value();
  astra::Tensor x = astra::Tensor::from<int32_t>(device, {1}, {1}).value();
  std::vector<astra::Tensor> results = divide.call(work, {x}).value();
  astra::Done done = results[0].wait();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().location(), "toy.astra:12:3");
  EXPECT_STREQ(done.error().what(),
               "toy.astra:12:3: division of 3 by 0 at element 1");
}

TEST_F(Wrapper, MapsTensorsAsSpans) {
  astra::Tensor made = astra::Tensor::empty<double>(device, {2, 2}).value();
  {
    astra::Mapping<double> elements = made.write<double>().value();
    double next = 0;
    ASSERT_EQ(elements.elements().size(), 4u);
    for (double &element : elements.elements())
      element = next++;
  }
  astra::Mapping<const double> view = made.view<double>().value();
  EXPECT_EQ(view.elements()[3], 3.0);
}

TEST_F(Wrapper, SharesAndMoves) {
  astra::Tensor x = astra::Tensor::from<float>(device, {1}, {1}).value();
  astra::Tensor shared = x.share().value();
  astra::Tensor moved = std::move(x);
  EXPECT_FALSE(x);
  moved = {};
  EXPECT_EQ(shared.read<float>().value(), (std::vector<float>{1}));
  astra_tensor_t handle = shared.release();
  EXPECT_EQ(astra_tensor_release(owner.get(), handle, nullptr), ASTRA_OK);
}

TEST_F(Wrapper, Describes) {
  EXPECT_STREQ(module.info().value().name, "toy");
  astra::Function shift = module.function(size_t(0)).value();
  EXPECT_STREQ(shift.info().value().name, "shift");
  EXPECT_STREQ(shift.input(0).value().shape[1], "4");
  EXPECT_STREQ(shift.parameter(1).value().type, "f32");
  EXPECT_EQ(shift.source().value(), "toy.astra:4:2");
  EXPECT_STREQ(module.kernel(0).value().name, "add_f32");
}

using Floats = std::vector<float>;

TEST_F(Wrapper, ReadsNothingAsAnotherType) {
  astra::Tensor x = astra::Tensor::from<float>(device, {1, 2}, {2}).value();
  auto wrong = x.read<int32_t>();
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().status(), ASTRA_ERROR_DTYPE_MISMATCH);
  EXPECT_EQ(wrong.error().message(),
            "the tensor has elements of f32, not of i32");
  EXPECT_EQ(x.view<uint32_t>().error().status(), ASTRA_ERROR_DTYPE_MISMATCH);
  EXPECT_EQ(x.read<double>().error().status(), ASTRA_ERROR_DTYPE_MISMATCH);

  const uint16_t bits[] = {0x3c00, 0x4000};
  const int64_t two[] = {2};
  for (uint32_t dtype : {ASTRA_F16, ASTRA_BF16, ASTRA_U16}) {
    astra_tensor_t handle;
    ASSERT_OK(astra_tensor_from_data(owner.get(), device.get(), dtype, 1, two,
                                     bits, sizeof bits, &handle, &error));
    astra::Tensor half(owner.get(), handle);
    EXPECT_EQ(half.read<uint16_t>().value(),
              (std::vector<uint16_t>{0x3c00, 0x4000}));
    EXPECT_FALSE(half.read<int16_t>());
  }
  const bool truth[] = {true, false};
  astra::Tensor flags =
      astra::Tensor::from<bool>(device, astra::Span<const bool>(truth),
                                astra::Span<const int64_t>(two))
          .value();
  EXPECT_EQ(flags.read<uint8_t>().value(), (std::vector<uint8_t>{1, 0}));
  EXPECT_FALSE(flags.read<int8_t>());
}

TEST_F(Wrapper, ViewsAndCopies) {
  astra::Tensor x =
      astra::Tensor::from<float>(device, {1, 2, 3, 4, 5, 6}, {2, 3}).value();
  EXPECT_EQ(x.slice({0, 2}, {2, 2}, {1, -1}).value().read<float>().value(),
            (Floats{3, 2, 6, 5}));
  EXPECT_EQ(x.slice({1, 0}, {1, 2}).value().read<float>().value(),
            (Floats{4, 5}));
  astra::Tensor turned = x.transpose({1, 0}).value();
  EXPECT_EQ(turned.shape().value(), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(turned.read<float>().value(), (Floats{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(turned.reshape({6}).error().status(), ASTRA_ERROR_LAYOUT_MISMATCH);
  EXPECT_EQ(turned.dense().value().reshape({6}).value().read<float>().value(),
            (Floats{1, 4, 2, 5, 3, 6}));
  // What the C functions would read beyond is refused here.
  EXPECT_EQ(x.slice({0}, {1}).error().status(), ASTRA_ERROR_SHAPE_MISMATCH);
  EXPECT_EQ(x.slice({0, 0}, {1}).error().status(), ASTRA_ERROR_COUNT_MISMATCH);
  EXPECT_EQ(x.transpose({0}).error().message(),
            "the tensor has 2 axes, but 1 are given");

  astra::Tensor place = astra::Tensor::empty<float>(device, {3, 2}).value();
  astra::Tensor wrong = astra::Tensor::empty<float>(device, {2}).value();
  EXPECT_EQ(turned.copy(work, wrong).error().status(),
            ASTRA_ERROR_SHAPE_MISMATCH);
  EXPECT_TRUE(wrong);
  astra::Tensor copied = turned.copy(work, place).value();
  EXPECT_FALSE(place);
  EXPECT_EQ(copied.read<float>().value(), (Floats{1, 4, 2, 5, 3, 6}));
}

TEST_F(Wrapper, EventsAndCallbacks) {
  astra::Stream manual = owner.stream(device, ASTRA_STREAM_MANUAL).value();
  astra::Function twice = module.function("twice").value();
  astra::Tensor x = astra::Tensor::from<float>(device, {1, 2}, {2}).value();
  astra::Event before = owner.event().value(), after = owner.event().value();
  astra::Event go = owner.event(ASTRA_EVENT_HOST).value();
  std::vector<std::string> order;
  auto note = [&order](std::string what) {
    return [&order, what](astra_status_t status) {
      order.push_back(what + " " + astra_status_name(status));
    };
  };

  manual.waitFor(go).value();
  manual.record(before).value();
  astra::Tensor y = std::move(twice.call(manual, {x}).value()[0]);
  manual.record(after).value();
  manual.callback(note("stream")).value();
  after.callback(note("event")).value();
  y.callback([&](astra_status_t status, const astra_error_t *error) {
     order.push_back(error ? "failed" : astra_status_name(status));
   }).value();
  EXPECT_EQ(manual.run().value(), 0u); // nobody has given the word
  EXPECT_EQ(y.state().value(), uint32_t(ASTRA_TENSOR_PENDING));
  EXPECT_EQ(after.since(before).error().status(), ASTRA_ERROR_NOT_READY);

  go.signal().value();
  EXPECT_GT(manual.run().value(), 0u);
  after.wait().value();
  EXPECT_EQ(after.state().value(), uint32_t(ASTRA_TENSOR_READY));
  EXPECT_GE(after.since(before).value(), 0);
  EXPECT_EQ(y.read<float>().value(), (Floats{2, 4}));
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, (std::vector<std::string>{"ASTRA_OK", "event ASTRA_OK",
                                             "stream ASTRA_OK"}));
}

TEST_F(Wrapper, CancelsAndTellsCallbacks) {
  astra::Stream manual = owner.stream(device, ASTRA_STREAM_MANUAL).value();
  astra::Function twice = module.function("twice").value();
  astra::Tensor x = astra::Tensor::from<float>(device, {1, 2}, {2}).value();
  astra::Tensor y = std::move(twice.call(manual, {x}).value()[0]);
  astra_status_t told = ASTRA_OK;
  // A callback may hold what can only be moved.
  manual
      .callback([&told, held = std::make_unique<int>(1)](
                    astra_status_t status) { told = *held ? status : 0; })
      .value();
  manual.cancel().value();
  EXPECT_EQ(y.wait().error().status(), ASTRA_ERROR_CANCELLED);
  EXPECT_EQ(told, ASTRA_ERROR_CANCELLED);
}

TEST_F(Wrapper, CountsAndTrimsMemory) {
  uint64_t live = owner.memory().value().live_bytes;
  {
    astra::Tensor big = astra::Tensor::empty<float>(device, {1000}).value();
    EXPECT_GE(owner.memory().value().live_bytes, live + 4000);
  }
  EXPECT_EQ(owner.memory().value().live_bytes, live);
  EXPECT_GE(owner.memory().value().kept_bytes, 4000u);
  owner.trim().value();
  EXPECT_EQ(owner.memory().value().kept_bytes, 0u);
}

TEST_F(Wrapper, SavesAndLoadsFiles) {
  std::string base = testing::TempDir() + "wrapper-" + std::to_string(getpid());
  astra::Tensor w =
      astra::Tensor::from<float>(device, {1, 2, 3, 4}, {2, 2}).value();
  astra::Tensor b = astra::Tensor::from<int64_t>(device, {7}, {1}).value();
  owner.saveSafetensors(base + ".safetensors", {{"w", w}, {"b", b}}).value();
  {
    astra::Archive archive =
        owner.loadSafetensors(base + ".safetensors").value();
    EXPECT_EQ(archive.names().value(), (std::vector<std::string>{"w", "b"}));
    EXPECT_EQ(archive.tensor("w", device).value().read<float>().value(),
              (Floats{1, 2, 3, 4}));
    EXPECT_EQ(archive.tensor("c", device).error().status(),
              ASTRA_ERROR_NOT_FOUND);
  }
  owner.saveNpy(base + ".npy", w).value();
  EXPECT_EQ(owner.loadNpy(base + ".npy", device).value().shape().value(),
            (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(owner.loadNpy(base + ".none", device).error().status(),
            ASTRA_ERROR_IO);
  std::remove((base + ".safetensors").c_str());
  std::remove((base + ".npy").c_str());
}

static_assert(astra::dtypeOf<uint16_t>() == ASTRA_U16);
static_assert(astra::dtypeOf<bool>() == ASTRA_BOOL);
static_assert(astra::dtypeOf<const double>() == ASTRA_F64);

} // namespace
