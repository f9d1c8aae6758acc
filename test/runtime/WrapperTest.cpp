// astra.hpp: owners give everything back, results hold values or errors, and
// calls do what they do in C.
#include "RuntimeTesting.h"
#include "astra/astra.hpp"

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

static_assert(astra::dtypeOf<uint16_t>() == ASTRA_U16);
static_assert(astra::dtypeOf<bool>() == ASTRA_BOOL);
static_assert(astra::dtypeOf<const double>() == ASTRA_F64);

} // namespace
