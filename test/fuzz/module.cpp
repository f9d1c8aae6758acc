// libFuzzer target: any descriptor of a module, as far as it is possible
// memory: arrays are as long as their counts say, unless the count is beyond
// all reason. One that is accepted can be looked at in full, and each function
// be called.
#include "astra/module.h"
#include "Bytes.h"
#include "Machine.h"
#include <memory>

using namespace astra::fuzz;

namespace {

constexpr uint32_t dtypes[] = {ASTRA_F32, ASTRA_I64, ASTRA_BOOL, ASTRA_BF16,
                               ASTRA_U8,  ASTRA_F64, 0,          0x09040101};

/// What the entry of every export does: services as the input says, then some
/// outcome.
struct Script {
  uint8_t service = 0;
  int64_t number = 0;
  int32_t outcome = 0;
} script;

astra_outcome_t entry(const astra_call_t *call, const astra_arg_t *,
                      astra_arg_t *) {
  const astra_call_api_t &api = *call->api;
  int64_t small = script.number & 0xffff;
  if (script.service & 1)
    api.workspace(call, script.number);
  if (script.service & 2)
    api.scratch_free(call, api.scratch(call, small));
  if (script.service & 4) {
    void *tape = api.tape_open(call, nullptr);
    if (tape && api.tape_entry(call, tape, small, 1 + (small & 63)))
      demand(api.tape_length(call, tape) == small + 1, "a tape has its length");
    api.tape_close(call, tape, 1);
  }
  if (script.service & 8)
    api.fail_values(call, script.outcome, "{} {", &script.number, 1);
  if (script.service & 16)
    api.locate(call, uint32_t(script.number));
  return script.outcome;
}

/// Builds a descriptor out of the input and owns all of its memory.
class Builder {
public:
  explicit Builder(Bytes &bytes) : bytes(bytes) {}
  const astra_module_desc_t *module();

private:
  template <class T> T *memory(size_t count) {
    auto block = std::make_shared<std::vector<T>>(count);
    kept.push_back(block);
    return block->data();
  }
  template <class T, class Fill>
  const T *array(unsigned most, uint64_t &count, Fill fill) {
    count = bytes.below(most + 1);
    T *made = memory<T>(count);
    for (uint64_t i = 0; i < count; ++i)
      fill(made[i]);
    if (bytes.oneIn(64))
      count = UINT64_MAX - bytes.take<uint8_t>();
    return bytes.oneIn(64) ? nullptr : made;
  }
  const char *text() {
    if (bytes.oneIn(64))
      return nullptr;
    std::string taken = bytes.text(6);
    char *made = memory<char>(taken.size() + 1);
    std::copy(taken.begin(), taken.end(), made);
    return made;
  }
  uint32_t dtype() { return dtypes[bytes.oneIn(16) ? bytes.below(8) : 0]; }
  int64_t place() { return bytes.oneIn(16) ? bytes.number() : bytes.below(2); }
  astra_dim_expr_t dim();
  astra_leaf_desc_t leaf();
  astra_value_desc_t value();
  void exported(astra_export_desc_t &made);
  void fused(astra_fused_desc_t &made);
  void latest(astra_module_desc_t &made);
  void stage(astra_stage_desc_t &made);

  Bytes &bytes;
  std::vector<std::shared_ptr<void>> kept;
};

astra_dim_expr_t Builder::dim() {
  astra_dim_expr_t made{text(), nullptr, 0};
  if (!bytes.oneIn(8)) { // a name or a number
    int64_t *code = memory<int64_t>(2);
    code[0] = bytes.below(2);
    code[1] = bytes.number() & 7;
    made.code = code;
    made.code_length = 2;
    return made;
  }
  made.code = array<int64_t>(12, made.code_length, [&](int64_t &word) {
    word = bytes.oneIn(8) ? bytes.number() : bytes.below(7);
  });
  return made;
}

astra_leaf_desc_t Builder::leaf() {
  astra_leaf_desc_t made{text(), dtype(), 0, nullptr};
  uint64_t rank = 0;
  made.shape = array<astra_dim_expr_t>(
      3, rank, [&](astra_dim_expr_t &each) { each = dim(); });
  made.rank = uint32_t(rank);
  return made;
}

astra_value_desc_t Builder::value() {
  return {text(), text(), text(), bytes.oneIn(8) ? bytes.take<uint32_t>() : 0,
          bytes.below(3)};
}

void Builder::exported(astra_export_desc_t &made) {
  made.name = text();
  made.doc = text();
  made.entry = bytes.oneIn(64) ? nullptr : entry;
  auto leaves = [this](astra_leaf_desc_t &each) { each = leaf(); };
  auto values = [this](astra_value_desc_t &each) { each = value(); };
  auto dims = [this](astra_dim_expr_t &each) { each = dim(); };
  made.dim_names = array<const char *>(
      3, made.dim_count, [this](const char *&each) { each = text(); });
  made.in_leaves = array<astra_leaf_desc_t>(3, made.in_leaf_count, leaves);
  made.out_leaves = array<astra_leaf_desc_t>(3, made.out_leaf_count, leaves);
  made.in_values = array<astra_value_desc_t>(2, made.in_value_count, values);
  made.out_values = array<astra_value_desc_t>(2, made.out_value_count, values);
  made.inner_dims = array<astra_dim_expr_t>(2, made.inner_dim_count, dims);
  made.workspace_bytes = dim();
  made.flags = bytes.below(8);
}

void Builder::stage(astra_stage_desc_t &made) {
  for (astra_block_fn &code : made.code)
    code = bytes.oneIn(64) ? nullptr
                           : [](void *const *, const int64_t *, int64_t) {};
  uint64_t count = 0;
  made.slots = array<int64_t>(
      4, count, [this](int64_t &slot) { slot = bytes.number() & 3; });
  made.input_count = uint32_t(count);
  made.per_row = bytes.below(2);
}

void Builder::fused(astra_fused_desc_t &made) {
  made.name = text();
  made.ops = text();
  made.arg_count = bytes.below(4);
  made.row_axes = bytes.below(4);
  made.slots = array<astra_slot_desc_t>(
      4, made.slot_count,
      [this](astra_slot_desc_t &slot) { slot = {bytes.below(8), dtype()}; });
  made.stages = array<astra_stage_desc_t>(
      2, made.stage_count, [this](astra_stage_desc_t &each) { stage(each); });
}

const astra_module_desc_t *Builder::module() {
  constexpr uint32_t versions[] = {3, 3, 3, 3, 3, 3, 2, 1};
  auto *made = memory<astra_module_desc_t>(1);
  made->magic = ASTRA_MODULE_MAGIC;
  made->object_abi =
      bytes.oneIn(32) ? bytes.take<uint32_t>() : versions[bytes.below(8)];
  made->struct_size = made->object_abi < 3 ? ASTRA_MODULE_DESC_SIZE_1
                                           : sizeof(astra_module_desc_t);
  if (bytes.oneIn(64))
    made->struct_size = bytes.take<uint32_t>();
  made->arithmetic = bytes.oneIn(64) ? bytes.take<uint32_t>() : 1;
  made->mode = bytes.below(4);
  made->name = text();
  made->compiler = text();
  made->options = text();
  constexpr const char *levels[] = {
      "x86-64-v3", "x86-64-v3", "x86-64-v3, x86-64-v4", "", ",,", "x86-64-v9"};
  made->cpu_levels = levels[bytes.below(6)];
  made->exports = array<astra_export_desc_t>(
      2, made->export_count,
      [this](astra_export_desc_t &each) { exported(each); });
  made->imports = array<astra_import_desc_t>(
      2, made->import_count, [this](astra_import_desc_t &each) {
        each = {bytes.oneIn(8) ? text() : "add_f32", 1u + bytes.oneIn(16), 0};
      });
  made->locations = array<astra_location_desc_t>(
      2, made->location_count, [this](astra_location_desc_t &each) {
        each = {text(), bytes.below(99), bytes.below(99)};
      });
  if (made->object_abi >= 3)
    latest(*made);
  return made;
}

/// What descriptors have since version 3. The places are as many as the fused
/// kernels and the exports that they are of.
void Builder::latest(astra_module_desc_t &made) {
  made.fused = array<astra_fused_desc_t>(
      2, made.fused_count, [this](astra_fused_desc_t &each) { fused(each); });
  made.donations = array<astra_donation_desc_t>(
      3, made.donation_count, [this](astra_donation_desc_t &each) {
        each = {bytes.below(3), bytes.below(3), bytes.below(3), 0};
      });
  if (made.fused_count <= 2 && !bytes.oneIn(8)) {
    auto *places = memory<astra_places_desc_t>(made.fused_count);
    for (uint64_t i = 0; i < made.fused_count; ++i)
      places[i].locations = array<int64_t>(
          3, places[i].count, [this](int64_t &at) { at = place(); });
    made.fused_places = places;
  }
  if (made.export_count <= 2 && !bytes.oneIn(8)) {
    auto *places = memory<int64_t>(made.export_count);
    for (uint64_t i = 0; i < made.export_count; ++i)
      places[i] = place();
    made.export_places = places;
  }
}

/// Looks at and calls what has been accepted.
class Inspection {
public:
  Inspection(const Machine &machine, Bytes &bytes)
      : machine(machine), runtime(machine.runtime), bytes(bytes) {}
  void module(astra_module_t module);

private:
  void function(astra_function_t function);
  void call(astra_function_t function, const astra_function_info_t &info);
  astra_tensor_t argument(const astra_leaf_info_t &leaf);
  static void see(const char *text) { demand(text, "a text is given"); }

  const Machine &machine;
  astra_runtime_t *runtime;
  Bytes &bytes;
};

void Inspection::module(astra_module_t module) {
  astra_module_info_t info;
  ASTRA_INIT(MODULE_INFO, &info);
  mustWork(astra_module_info, runtime, module, &info);
  for (const char *text : {info.name, info.path, info.compiler, info.options})
    see(text);
  for (size_t i = 0; i < info.kernel_count; ++i) {
    const char *name = nullptr, *variant = nullptr;
    uint32_t version = 0;
    mustWork(astra_module_kernel, runtime, module, i, &name, &version,
             &variant);
    see(name);
    see(variant);
    astra_kernel_info_t kernel;
    ASTRA_INIT(KERNEL_INFO, &kernel);
    mustWork(astra_module_kernel_info, runtime, module, i, &kernel);
  }
  for (size_t i = 0; i < info.function_count; ++i) {
    astra_function_t found{0};
    mustWork(astra_module_function_at, runtime, module, i, &found);
    function(found);
    mustWork(astra_function_release, runtime, found);
  }
}

void Inspection::function(astra_function_t function) {
  astra_function_info_t info;
  ASTRA_INIT(FUNCTION_INFO, &info);
  mustWork(astra_function_info, runtime, function, &info);
  for (size_t i = 0; i < info.dim_count; ++i)
    see(info.dim_names[i]);
  astra_value_info_t value;
  ASTRA_INIT(VALUE_INFO, &value);
  for (size_t i = 0; i < info.parameter_count; ++i)
    mustWork(astra_function_parameter, runtime, function, i, &value);
  for (size_t i = 0; i < info.result_count; ++i)
    mustWork(astra_function_result, runtime, function, i, &value);
  astra_leaf_info_t leaf;
  ASTRA_INIT(LEAF_INFO, &leaf);
  for (size_t i = 0; i < info.output_count; ++i) {
    mustWork(astra_function_output, runtime, function, i, &leaf);
    for (uint32_t axis = 0; axis < leaf.rank; ++axis)
      see(leaf.shape[axis]);
  }
  const char *source = nullptr;
  mustWork(astra_function_source, runtime, function, &source);
  see(source);
  int64_t dims[] = {bytes.below(8), bytes.below(8), bytes.number()};
  uint64_t workspace = 0, results = 0;
  attempt(astra_function_memory, runtime, function,
          static_cast<const int64_t *>(dims), info.dim_count, &workspace,
          &results);
  call(function, info);
}

astra_tensor_t Inspection::argument(const astra_leaf_info_t &leaf) {
  std::vector<int64_t> shape;
  for (uint32_t axis = 0; axis < leaf.rank; ++axis)
    shape.push_back(bytes.below(8));
  astra_tensor_t made{0};
  attempt(astra_tensor_empty, runtime, machine.cpu, leaf.dtype, leaf.rank,
          shape.data(), &made);
  return made;
}

void Inspection::call(astra_function_t function,
                      const astra_function_info_t &info) {
  astra_leaf_info_t leaf;
  ASTRA_INIT(LEAF_INFO, &leaf);
  std::vector<astra_value_t> in;
  std::vector<astra_tensor_t> out(info.output_count + 1), made;
  for (size_t i = 0; i < info.input_count; ++i) {
    mustWork(astra_function_input, runtime, function, i, &leaf);
    made.push_back(argument(leaf));
    in.push_back(astra_value_of_tensor(made.back()));
    in.back().flags = bytes.oneIn(4) ? ASTRA_VALUE_DONATE : 0;
  }
  script = {bytes.take<uint8_t>(), bytes.number(),
            bytes.oneIn(2) ? 0 : bytes.take<int8_t>()};
  astra_status_t status =
      attempt(astra_function_call, runtime, function, machine.stream, nullptr,
              in.data(), in.size(), out.data(), info.output_count);
  for (size_t i = 0; i < info.output_count && status == ASTRA_OK; ++i) {
    astra_status_t state = attempt(astra_tensor_wait, runtime, out[i]);
    demand((state == ASTRA_OK) == (script.outcome == 0) || script.service,
           "an outcome is reported");
    made.push_back(out[i]);
  }
  attempt(astra_stream_wait, runtime, machine.stream);
  for (size_t i = 0; i < made.size(); ++i) {
    bool donated = i < in.size() && in[i].flags;
    if (donated) // gone, or refused
      attempt(astra_tensor_release, runtime, made[i]);
    else if (made[i].bits)
      mustWork(astra_tensor_release, runtime, made[i]);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static Machine machine;
  Bytes bytes(data, size);
  Builder builder(bytes);
  astra_module_t module{0};
  if (attempt(astra_module_link, machine.runtime, builder.module(), &module) ==
      ASTRA_OK) {
    Inspection(machine, bytes).module(module);
    mustWork(astra_module_release, machine.runtime, module);
  }
  machine.demandEmpty();
  return 0;
}
