// Asking the runtime; see Report.h.
#include "tools/astra-info/Report.h"
#include "tools/common/Names.h"

namespace astra {
namespace {

/// Takes what a question gives, or leaves with its error.
#define ASTRA_ASK(NAME, QUESTION)                                              \
  auto NAME = (QUESTION);                                                      \
  if (!NAME)                                                                   \
  return NAME.error()

Result<ValueReport> describeValue(const Result<astra_value_info_t> &answer) {
  if (!answer)
    return answer.error();
  const astra_value_info_t &info = *answer;
  return ValueReport{info.name, info.type, info.tree, info.first_leaf,
                     info.leaf_count};
}

Result<LeafReport> describeLeaf(const Result<astra_leaf_info_t> &answer) {
  if (!answer)
    return answer.error();
  const astra_leaf_info_t &info = *answer;
  LeafReport leaf{info.path, getDtypeName(info.dtype), {}, {}};
  leaf.shape.assign(info.shape, info.shape + info.rank);
  leaf.donors.assign(info.donors, info.donors + info.donor_count);
  return leaf;
}

Result<FunctionReport> describeFunction(const Function &function) {
  ASTRA_ASK(info, function.info());
  ASTRA_ASK(source, function.source());
  FunctionReport report;
  report.name = info->name;
  report.doc = info->doc;
  report.source = *source;
  report.memory = info->memory;
  report.isTest = info->flags & ASTRA_FUNCTION_TEST;
  report.dims.assign(info->dim_names, info->dim_names + info->dim_count);
  for (size_t i = 0; i < info->parameter_count; ++i) {
    ASTRA_ASK(value, describeValue(function.parameter(i)));
    report.parameters.push_back(*value);
  }
  for (size_t i = 0; i < info->result_count; ++i) {
    ASTRA_ASK(value, describeValue(function.result(i)));
    report.results.push_back(*value);
  }
  for (size_t i = 0; i < info->input_count; ++i) {
    ASTRA_ASK(leaf, describeLeaf(function.input(i)));
    report.inputs.push_back(*leaf);
  }
  for (size_t i = 0; i < info->output_count; ++i) {
    ASTRA_ASK(leaf, describeLeaf(function.output(i)));
    report.outputs.push_back(*leaf);
  }
  return report;
}

KernelReport describeKernel(const astra_kernel_info_t &info) {
  KernelReport report;
  report.name = info.name;
  report.ops = info.ops;
  report.source = info.source;
  report.variants = info.variants;
  report.version = info.version;
  report.isFused = info.flags & ASTRA_KERNEL_FUSED;
  report.isMissing = info.flags & ASTRA_KERNEL_MISSING;
  return report;
}

std::string nameMode(uint32_t mode) {
  constexpr const char *names[] = {"strict", "device", "fast"};
  return mode < 3 ? names[mode] : "mode " + std::to_string(mode);
}

} // namespace

Result<Report> describeFile(const Runtime &runtime, const std::string &path) {
  ASTRA_ASK(module, runtime.inspect(path));
  ASTRA_ASK(info, module->info());
  ASTRA_ASK(sizes, module->sizes());
  Report report;
  report.path = path;
  report.name = info->name;
  report.compiler = info->compiler;
  report.options = info->options;
  report.cpuLevels = info->cpu_levels;
  report.objectAbi = info->object_abi;
  report.arithmetic = info->arithmetic;
  report.mode = nameMode(info->mode);
  report.fileBytes = sizes->file_bytes;
  report.codeBytes = sizes->code_bytes;
  report.dataBytes = sizes->data_bytes;
  for (size_t i = 0; i < info->function_count; ++i) {
    ASTRA_ASK(function, module->function(i));
    ASTRA_ASK(described, describeFunction(*function));
    report.functions.push_back(*described);
  }
  for (size_t i = 0; i < info->kernel_count; ++i) {
    ASTRA_ASK(kernel, module->kernel(i));
    report.kernels.push_back(describeKernel(*kernel));
  }
  return report;
}

} // namespace astra
