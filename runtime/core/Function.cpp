// What is worked out of an export once; see Function.h.
#include "core/Function.h"
#include "core/DimCode.h"
#include "core/Dtype.h"
#include <charconv>

namespace astra {

Function::Function(Ref<Module> given, const astra_export_desc_t &desc)
    : module(std::move(given)), desc(desc) {
  findSources();
  findDonors();
  writeMemory();
  place = module->exportSource(desc);
}

void Function::findSources() {
  sources.resize(desc.dim_count, {none, 0});
  for (uint32_t i = 0; i < desc.in_leaf_count; ++i) {
    for (uint32_t axis = 0; axis < desc.in_leaves[i].rank; ++axis) {
      const astra_dim_expr_t &extent = desc.in_leaves[i].shape[axis];
      bool isName = extent.code_length == 2 && extent.code[0] == ASTRA_DIM_NAME;
      if (isName && sources[size_t(extent.code[1])].input == none)
        sources[size_t(extent.code[1])] = {i, axis};
      else
        checked.push_back({i, axis});
    }
  }
  for (const Place &place : sources)
    allSources &= place.input != none;
}

void Function::findDonors() {
  const astra_module_desc_t &all = module->descriptor();
  uint64_t index = uint64_t(&desc - all.exports);
  uint64_t next = 0, count = all.object_abi < 3 ? 0 : all.donation_count;
  while (next < count && all.donations[next].export_index < index)
    ++next;
  for (uint64_t output = 0; output < desc.out_leaf_count; ++output) {
    donorStarts.push_back(donorInputs.size());
    for (; next < count && all.donations[next].export_index == index &&
           all.donations[next].output == output;
         ++next)
      donorInputs.push_back(all.donations[next].input);
  }
  donorStarts.push_back(donorInputs.size());
}

Function::Donors Function::donors(uint64_t output) const {
  size_t begin = donorStarts[output];
  return {donorInputs.data() + begin, donorStarts[output + 1] - begin};
}

/// "4*n*(2*d)": the bytes of a result, its constant extents multiplied; empty
/// if all are constant and fit, and `constant` then has grown by them.
static std::string bytesText(const astra_leaf_desc_t &leaf, int64_t &constant) {
  int64_t known = findDtype(leaf.dtype)->bytes, product = 0;
  std::string text;
  for (uint32_t axis = 0; axis < leaf.rank; ++axis) {
    const astra_dim_expr_t &extent = leaf.shape[axis];
    if (extent.code_length != 2)
      text += join("*(", extent.text, ")");
    else if (extent.code[0] == ASTRA_DIM_NAME ||
             __builtin_mul_overflow(known, extent.code[1], &product))
      text += join("*", extent.text);
    else
      known = product;
  }
  if (text.empty() && !__builtin_add_overflow(constant, known, &constant))
    return text;
  return join(known, text);
}

/// Takes the number off the end of "16*n + 320", or off "320".
static int64_t takeConstant(std::string &text) {
  size_t plus = text.rfind(" + ");
  size_t begin = plus == text.npos ? 0 : plus + 3;
  int64_t number = 0;
  auto [end, error] =
      std::from_chars(&text[begin], text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0)
    return 0;
  text.resize(plus == text.npos ? 0 : plus);
  return number;
}

void Function::writeMemory() {
  memory = desc.workspace_bytes.text;
  int64_t constant = takeConstant(memory);
  auto add = [&](const std::string &bytes) {
    memory = memory.empty() ? bytes : join(memory, " + ", bytes);
  };
  for (uint64_t i = 0; i < desc.out_leaf_count; ++i) {
    std::string bytes = bytesText(desc.out_leaves[i], constant);
    if (!bytes.empty())
      add(bytes);
  }
  if (constant || memory.empty())
    add(join(constant));
}

Status Function::evaluateMemory(const int64_t *dims, int64_t &workspace,
                                int64_t &results) const {
  for (uint64_t i = 0; i < desc.dim_count; ++i) {
    if (dims[i] < 0)
      return fail(ASTRA_ERROR_INVALID_ARGUMENT, "the dimension ",
                  desc.dim_names[i], " is ", dims[i],
                  "; a dimension is at least 0");
  }
  ASTRA_TRY(evaluateDim(desc.workspace_bytes, dims, workspace));
  results = 0;
  for (uint64_t i = 0; i < desc.out_leaf_count; ++i) {
    const astra_leaf_desc_t &leaf = desc.out_leaves[i];
    int64_t bytes = findDtype(leaf.dtype)->bytes;
    bool fits = true;
    for (uint32_t axis = 0; axis < leaf.rank; ++axis) {
      int64_t extent = 0;
      ASTRA_TRY(evaluateDim(leaf.shape[axis], dims, extent));
      if (extent < 0)
        return fail(ASTRA_ERROR_OVERFLOW, "the extent of result \"", leaf.path,
                    "\", axis ", axis,
                    ", would be negative: ", leaf.shape[axis].text, " is ",
                    extent);
      fits &= !__builtin_mul_overflow(bytes, extent, &bytes);
    }
    if (!fits || __builtin_add_overflow(results, bytes, &results))
      return fail(ASTRA_ERROR_OVERFLOW, "the bytes of result \"", leaf.path,
                  "\" do not fit 64 bits");
  }
  return {};
}

} // namespace astra
