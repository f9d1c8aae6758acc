// A function that is refused has no effect (rule 9 of docs/abi.md): a tensor
// that may be written still may after each refusal of a function that would
// have read it, and a part is not closed by one. Also what outputs hold then.
#include "RuntimeTesting.h"

using namespace astra::test;

namespace {

astra_value_t of(astra_tensor_t tensor) {
  return astra_value_of_tensor(tensor);
}

class Effects : public RuntimeTest {
protected:
  astra_status_t map(astra_tensor_t tensor, uint32_t access,
                     astra_mapping_t *mapping) {
    void *data = nullptr;
    size_t bytes = 0;
    return astra_tensor_map(runtime, tensor, {0}, access, 0, ASTRA_WHOLE,
                            mapping, &data, &bytes, nullptr);
  }
  bool isWritable(astra_tensor_t tensor) {
    astra_mapping_t mapping{0};
    bool mapped = map(tensor, ASTRA_MAP_WRITE, &mapping) == ASTRA_OK;
    if (mapped)
      EXPECT_EQ(astra_tensor_unmap(runtime, mapping, nullptr), ASTRA_OK);
    return mapped;
  }
  astra_tensor_t part(astra_tensor_t whole) {
    std::vector<astra_tensor_t> parts;
    EXPECT_EQ(split(whole, {0}, {4}, 1, parts, nullptr), ASTRA_OK);
    return parts[0];
  }

  /// Calls `use` with tensors that may be written, a fresh one and a part; it
  /// must be refused, and they must stay what they are.
  template <class Use> void leavesWritable(const char *what, Use use) {
    astra_tensor_t fresh = empty({4}), whole = empty({4}), open = part(whole);
    EXPECT_NE(use(fresh), ASTRA_OK) << what;
    EXPECT_TRUE(isWritable(fresh)) << what;
    EXPECT_NE(use(open), ASTRA_OK) << what << " of a part";
    EXPECT_TRUE(isWritable(open)) << what << " of a part";
    float values[4];
    EXPECT_EQ(astra_tensor_read(runtime, whole, values, sizeof values, nullptr),
              ASTRA_ERROR_BUSY)
        << what << " closed the part";
  }

  astra_status_t add(astra_value_t a, astra_value_t b, astra_tensor_t target,
                     astra_tensor_t *out) {
    astra_call_options_t options;
    ASTRA_INIT(CALL_OPTIONS, &options);
    options.targets = &target;
    options.target_count = 1;
    astra_value_t in[] = {a, b};
    return astra_function_call(runtime, function("add"), stream, &options, in,
                               2, out, 1, nullptr);
  }
  astra_tensor_t out{0};
};

TEST_F(Effects, RefusedReadsAndViewsLeaveATensorWritable) {
  float values[4];
  leavesWritable("read", [&](astra_tensor_t t) {
    return astra_tensor_read(runtime, t, values, 3, nullptr);
  });
  leavesWritable("read without a buffer", [&](astra_tensor_t t) {
    return astra_tensor_read(runtime, t, nullptr, sizeof values, nullptr);
  });
  int64_t three = 3, nine = 9, five = 5;
  leavesWritable("slice", [&](astra_tensor_t t) {
    return astra_tensor_slice(runtime, t, &three, &nine, nullptr, &out,
                              nullptr);
  });
  leavesWritable("reshape", [&](astra_tensor_t t) {
    return astra_tensor_reshape(runtime, t, 1, &five, &out, nullptr);
  });
  uint32_t axis = 7;
  leavesWritable("transpose", [&](astra_tensor_t t) {
    return astra_tensor_transpose(runtime, t, &axis, &out, nullptr);
  });
  leavesWritable("dense", [&](astra_tensor_t t) {
    return astra_tensor_dense(runtime, t, nullptr, nullptr);
  });
  astra_mapping_t mapping{0};
  void *data = nullptr;
  size_t bytes = 0;
  leavesWritable("map", [&](astra_tensor_t t) {
    return astra_tensor_map(runtime, t, {0}, ASTRA_MAP_READ, 5, 1, &mapping,
                            &data, &bytes, nullptr);
  });
}

TEST_F(Effects, RefusedCallsAndCopiesLeaveATensorWritable) {
  leavesWritable("call with another shape", [&](astra_tensor_t t) {
    return add(of(t), of(floats({3}, {1, 2, 3})), {0}, &out);
  });
  leavesWritable("call with another dtype", [&](astra_tensor_t t) {
    return add(of(t), astra_value_of_f32(1), {0}, &out);
  });
  leavesWritable("call with another target", [&](astra_tensor_t t) {
    return add(of(t), of(t), empty({5}), &out);
  });
  leavesWritable("call into its input", [&](astra_tensor_t t) {
    return add(of(t), of(floats({4}, {1, 2, 3, 4})), t, &out);
  });
  astra_value_t in[1];
  leavesWritable("call with too few inputs", [&](astra_tensor_t t) {
    in[0] = of(t);
    return astra_function_call(runtime, function("add"), stream, nullptr, in, 1,
                               &out, 1, nullptr);
  });
  leavesWritable("copy into another shape", [&](astra_tensor_t t) {
    return astra_tensor_copy(runtime, stream, t, empty({5}), &out, nullptr);
  });
  leavesWritable("copy into what cannot be written", [&](astra_tensor_t t) {
    return astra_tensor_copy(runtime, stream, t, floats({4}, {1, 2, 3, 4}),
                             &out, nullptr);
  });
  leavesWritable("copy into itself", [&](astra_tensor_t t) {
    return astra_tensor_copy(runtime, stream, t, t, &out, nullptr);
  });
  EXPECT_EQ(out.bits, 0u);
}

TEST_F(Effects, RefusedSavesLeaveATensorWritable) {
  leavesWritable("npy", [&](astra_tensor_t t) {
    return astra_npy_save(runtime, "/nonexistent/x.npy", t, nullptr);
  });
  const char *name = "t", *again[] = {"t", "t"};
  leavesWritable("safetensors", [&](astra_tensor_t t) {
    return astra_safetensors_save(runtime, "/nonexistent/x.st", &name, &t, 1,
                                  nullptr);
  });
  leavesWritable("safetensors with a name twice", [&](astra_tensor_t t) {
    astra_tensor_t both[] = {t, t};
    return astra_safetensors_save(runtime, "/tmp/x.st", again, both, 2,
                                  nullptr);
  });
}

TEST_F(Effects, UsesThatSucceedStillSeal) {
  float values[4];
  int64_t zero = 0, four = 4;
  astra_tensor_t read = empty({4}), sliced = empty({4}), called = empty({4}),
                 copied = empty({4}), mapped = empty({4});
  ASSERT_OK(astra_tensor_read(runtime, read, values, sizeof values, &error));
  ASSERT_OK(
      astra_tensor_slice(runtime, sliced, &zero, &four, nullptr, &out, &error));
  ASSERT_EQ(add(of(called), of(called), {0}, &out), ASTRA_OK);
  ASSERT_OK(
      astra_tensor_copy(runtime, stream, copied, empty({4}), &out, &error));
  astra_mapping_t mapping{0};
  ASSERT_EQ(map(mapped, ASTRA_MAP_READ, &mapping), ASTRA_OK);
  for (astra_tensor_t each : {read, sliced, called, copied, mapped})
    EXPECT_FALSE(isWritable(each));
  // A view of a part closes it.
  astra_tensor_t whole = empty({4});
  ASSERT_OK(astra_tensor_slice(runtime, part(whole), &zero, &four, nullptr,
                               &out, &error));
  ASSERT_OK(astra_tensor_read(runtime, whole, values, sizeof values, &error));
}

TEST_F(Effects, TargetsMayStandInTheArrayOfTheOutputs) {
  astra_tensor_t target = empty({2}), whole = empty({4});
  std::vector<astra_tensor_t> parts;
  ASSERT_OK(split(whole, {0, 2}, {2, 2}, 2, parts, &error));
  astra_tensor_t x = floats({2}, {1, 2});
  for (astra_tensor_t each : {target, parts[0], parts[1]}) {
    astra_call_options_t options;
    ASTRA_INIT(CALL_OPTIONS, &options);
    options.targets = &each;
    options.target_count = 1;
    astra_value_t in = of(x);
    ASSERT_OK(astra_function_call(runtime, function("twice"), stream, &options,
                                  &in, 1, &each, 1, &error));
    EXPECT_EQ(read<float>(each, 2), (std::vector<float>{2, 4}));
  }
  // Each was consumed, and the whole shows what was written.
  EXPECT_EQ(astra_tensor_release(runtime, target, nullptr),
            ASTRA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(read<float>(whole, 4), (std::vector<float>{2, 4, 2, 4}));
}

TEST_F(Effects, OutputsOfRefusedFunctionsAreNull) {
  astra_tensor_t outputs[2] = {{77}, {77}};
  auto areNull = [&] {
    bool null = outputs[0].bits == 0 && outputs[1].bits == 0;
    outputs[0].bits = outputs[1].bits = 77;
    return null;
  };
  int64_t starts[] = {0, 1}, extents[] = {2, 2};
  astra_value_t in[] = {of(floats({2}, {1, 2})), of({0})};
  auto call = [&](astra_runtime_t *on, size_t count) {
    return astra_function_call(on, function("shift"), stream, nullptr, in,
                               count, outputs, 2, nullptr);
  };
  auto partition = [&](astra_runtime_t *on, astra_tensor_t whole) {
    return astra_tensor_partition(on, whole, 2, starts, extents, nullptr,
                                  outputs, nullptr);
  };
  EXPECT_NE(call(nullptr, 2), ASTRA_OK);
  EXPECT_TRUE(areNull());
  EXPECT_NE(call(runtime, 1), ASTRA_OK);
  EXPECT_TRUE(areNull());
  EXPECT_NE(partition(nullptr, {0}), ASTRA_OK);
  EXPECT_TRUE(areNull());
  EXPECT_NE(partition(runtime, {0}), ASTRA_OK);
  EXPECT_TRUE(areNull());
  uint64_t before = liveHandles();
  astra_tensor_t whole = empty({3});
  EXPECT_NE(partition(runtime, whole), ASTRA_OK) << "the parts overlap";
  EXPECT_TRUE(areNull());
  EXPECT_NE(partition(runtime, floats({3}, {1, 2, 3})), ASTRA_OK);
  EXPECT_TRUE(areNull());
  extents[0] = 1;
  EXPECT_NE(partition(runtime, floats({3}, {1, 2, 3})), ASTRA_OK);
  EXPECT_TRUE(areNull());
  EXPECT_EQ(liveHandles(), before + 3);
  EXPECT_TRUE(isWritable(whole));
}

TEST_F(Effects, WaitsForWhatMayStillBeWrittenAreRefused) {
  int calls = 0;
  auto count = [](void *context, astra_status_t, const astra_error_t *) {
    ++*static_cast<int *>(context);
  };
  astra_tensor_t mapped = empty({4}), whole = empty({4}), open = part(whole);
  astra_mapping_t mapping{0};
  ASSERT_EQ(map(mapped, ASTRA_MAP_WRITE, &mapping), ASTRA_OK);
  EXPECT_FAILS(ASTRA_ERROR_BUSY, "mapped for writing",
               astra_tensor_wait(runtime, mapped, &error));
  EXPECT_FAILS(ASTRA_ERROR_BUSY, "mapped for writing",
               astra_tensor_callback(runtime, mapped, count, &calls, &error));
  EXPECT_FAILS(ASTRA_ERROR_BUSY, "1 part of the tensor",
               astra_tensor_wait(runtime, whole, &error));
  EXPECT_FAILS(ASTRA_ERROR_BUSY, "1 part of the tensor",
               astra_tensor_callback(runtime, whole, count, &calls, &error));
  EXPECT_EQ(calls, 0);
  ASSERT_OK(astra_tensor_unmap(runtime, mapping, &error));
  ASSERT_OK(astra_tensor_release(runtime, open, &error));
  for (astra_tensor_t each : {mapped, whole}) {
    ASSERT_OK(astra_tensor_wait(runtime, each, &error));
    ASSERT_OK(astra_tensor_callback(runtime, each, count, &calls, &error));
  }
  EXPECT_EQ(calls, 2);
}

} // namespace
