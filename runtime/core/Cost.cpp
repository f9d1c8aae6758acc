// The rules of kernels/costs.def; see Cost.h.
#include "core/Cost.h"
#include "core/Dtype.h"
#include <algorithm>
#include <cstring>
#include <string>

namespace astra {
namespace {

struct Row {
  const char *name, *op;
  int32_t inputs, outputs;
};
constexpr Row rows[] = {
#define KERNEL(op, dtype, version, inputs, outputs, params, doc)               \
  {#op "_" #dtype, #op, inputs, outputs},
#include "kernels/kernels.def"
};

struct CostRow {
  const char *op;
  KernelTraits::Rule rule;
  uint32_t weight;
};
constexpr CostRow costs[] = {
#define COST(op, rule, weight) {#op, KernelTraits::rule, weight},
#include "kernels/costs.def"
};

uint64_t extent(const astra_arg_t &arg, uint32_t axis) {
  return uint64_t(arg.shape[axis]);
}

uint64_t elements(const astra_arg_t &arg) {
  uint64_t count = 1;
  for (uint32_t axis = 0; axis < arg.rank; ++axis)
    count *= extent(arg, axis);
  return count;
}

/// Elements that repeat along an axis are read once.
uint64_t bytesOf(const astra_arg_t &arg) {
  const DtypeInfo *dtype = findDtype(arg.dtype);
  uint64_t bytes = dtype ? dtype->bytes : 0;
  for (uint32_t axis = 0; axis < arg.rank; ++axis)
    bytes *= arg.strides[axis] || !extent(arg, axis) ? extent(arg, axis) : 1;
  return bytes;
}

/// All but the last two axes.
uint64_t matrices(const astra_arg_t &arg) {
  uint64_t count = 1;
  for (uint32_t axis = 0; axis + 2 < arg.rank; ++axis)
    count *= extent(arg, axis);
  return count;
}

uint64_t last(const astra_arg_t &arg, uint32_t back) {
  return back <= arg.rank ? extent(arg, arg.rank - back) : 1;
}

uint64_t products(const Operands &of, const int64_t *params) {
  uint64_t contracted = 1;
  for (uint32_t k = 1; k <= uint32_t(params[1]); ++k)
    contracted *= last(of.inputs[0], k);
  return contracted * elements(of.outputs[0]);
}

/// Products of queries with keys and of weights with values, both of which have
/// a channel for each pair; their mean, since the table counts both.
uint64_t meetings(const Operands &of, const int64_t *params) {
  const astra_arg_t &q = of.inputs[0], &k = of.inputs[1], &v = of.inputs[2];
  uint64_t pairs = matrices(q) * last(q, 2) * last(k, 2);
  uint64_t channels = (last(q, 1) + last(v, 1)) / 2;
  return pairs * channels / (params[1] ? 2 : 1);
}

uint64_t columns(const Operands &of) {
  return elements(of.inputs[1]) / std::max<uint64_t>(last(of.inputs[0], 1), 1);
}

/// Arguments of a fused kernel that a stage writes.
uint32_t fusedOutputs(const astra_fused_desc_t &fused) {
  bool written[ASTRA_FUSED_MOST_SLOTS] = {};
  for (uint64_t i = 0; i < fused.stage_count; ++i) {
    const astra_stage_desc_t &stage = fused.stages[i];
    for (uint32_t k = 0; k < stage.output_count; ++k)
      written[stage.slots[stage.input_count + k]] = true;
  }
  return uint32_t(std::count(written, written + fused.arg_count, true));
}

/// One for each operation and element of the kernel's shape, which all of its
/// views have.
uint64_t fusedFlops(const astra_fused_desc_t &fused, const astra_arg_t &view) {
  uint64_t count = 0;
  for (const char *word = fused.ops; *word;) {
    size_t length = std::strcspn(word, " ");
    bool moves = false;
    for (const CostRow &cost : costs)
      moves |= cost.rule == KernelTraits::Moves &&
               std::strlen(cost.op) == length &&
               std::strncmp(cost.op, word, length) == 0;
    count += !moves;
    word += length + (word[length] == ' ');
  }
  return count * elements(view);
}

/// Where the parameters of what makes an operand, and the product's own, are:
/// behind those of what takes the result.
const int64_t *makerParams(const KernelTraits &traits, const int64_t *params) {
  return params + (traits.takes ? 2 : 0);
}
const int64_t *productParams(const KernelTraits &traits,
                             const int64_t *params) {
  return makerParams(traits, params) + (traits.makes ? 2 : 0);
}

uint64_t joinedFlops(const KernelTraits &traits, const Operands &of,
                     const int64_t *params) {
  uint64_t count = traits.weight * products(of, productParams(traits, params));
  if (traits.takes)
    count += fusedFlops(fusedOf(params), of.outputs[0]);
  const int64_t *maker = makerParams(traits, params);
  if (traits.makes) // whose first input is where the operand would be
    count += fusedFlops(fusedOf(maker), of.inputs[maker[1]]);
  return count;
}

uint64_t flopsOf(const KernelTraits &traits, const Operands &of,
                 const int64_t *params) {
  uint64_t weight = traits.weight;
  switch (traits.rule) {
  case KernelTraits::Outputs:
    return of.outputCount ? elements(of.outputs[0]) : 0;
  case KernelTraits::Moves:
    return 0;
  case KernelTraits::Inputs:
    return weight * elements(of.inputs[0]);
  case KernelTraits::Values:
    return weight * elements(of.inputs[1]);
  case KernelTraits::Products:
    return weight * products(of, params);
  case KernelTraits::Attention:
    return weight * meetings(of, params);
  case KernelTraits::Cubes:
  case KernelTraits::Equations:
  case KernelTraits::Triangles:
    break;
  case KernelTraits::Fused:
    return fusedFlops(fusedOf(params), of.outputs[0]);
  case KernelTraits::Joined:
    return joinedFlops(traits, of, params);
  }
  uint64_t n = last(of.inputs[0], 1), squares = n * n;
  uint64_t factor = matrices(of.inputs[0]) * squares * n * weight / 6;
  if (traits.rule == KernelTraits::Cubes)
    return factor;
  // The columns of all matrices together.
  uint64_t each = squares * columns(of);
  return traits.rule == KernelTraits::Equations ? factor + 2 * each : each;
}

/// The traits of a product that a kernel joins with fused ones: "conv_map_f32"
/// has that of "conv_f32" and takes the result, "map_contract_f32" makes an
/// operand. Null traits of others.
KernelTraits findJoined(std::string name) {
  size_t at = name.find("_map_");
  bool takes = at != std::string::npos && name.compare(0, 6, "fused_") != 0;
  bool makes = name.compare(0, 4, "map_") == 0;
  if (!takes && !makes)
    return {};
  if (takes)
    name.erase(at, 4);
  KernelTraits traits = findTraits(name.c_str() + (makes ? 4 : 0));
  traits.rule = KernelTraits::Joined;
  traits.takes = takes;
  traits.makes = makes;
  return traits;
}

} // namespace

KernelTraits findTraits(const char *name) {
  KernelTraits joined = findJoined(name);
  if (joined.rule == KernelTraits::Joined)
    return joined;
  KernelTraits traits;
  const Row *found = nullptr;
  for (const Row &row : rows)
    if (std::strcmp(row.name, name) == 0)
      found = &row;
  if (!found)
    return traits;
  traits = {found->inputs, found->outputs, KernelTraits::Outputs, 1};
  for (const CostRow &cost : costs)
    if (std::strcmp(cost.op, found->op) == 0) {
      traits.rule = cost.rule;
      traits.weight = cost.weight;
    }
  if (std::strcmp(found->op, "fused") == 0)
    traits.rule = KernelTraits::Fused;
  return traits;
}

Operands operandsOf(const KernelTraits &traits, const astra_arg_t *args,
                    const int64_t *params) {
  if (traits.rule == KernelTraits::Fused) {
    const astra_fused_desc_t &fused = fusedOf(params);
    uint32_t outputs = fusedOutputs(fused);
    uint32_t inputs = fused.arg_count - outputs;
    return {args, args + inputs, inputs, outputs};
  }
  const int64_t *own = productParams(traits, params);
  auto count = [&](int32_t stated) {
    return uint32_t(stated < 0 ? own[0] - stated : stated);
  };
  uint32_t inputs = count(traits.inputs), outputs = count(traits.outputs);
  if (traits.takes) {
    const astra_fused_desc_t &fused = fusedOf(params);
    outputs = fusedOutputs(fused);
    // Of the fused kernel's inputs the product is none of the call's.
    inputs += fused.arg_count - outputs - 1;
  }
  if (traits.makes) // all its views but the operand, which is none
    inputs += fusedOf(makerParams(traits, params)).arg_count - 2;
  return {args, args + inputs, inputs, outputs};
}

Cost costOf(const KernelTraits &traits, const Operands &operands,
            const int64_t *params) {
  Cost cost;
  for (uint32_t i = 0; i < operands.inputCount; ++i)
    cost.bytes += bytesOf(operands.inputs[i]);
  for (uint32_t i = 0; i < operands.outputCount; ++i)
    cost.bytes += bytesOf(operands.outputs[i]);
  cost.flops = flopsOf(traits, operands, params);
  return cost;
}

} // namespace astra
