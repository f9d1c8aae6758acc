// The description of one file, and its two forms. Knows the public C API alone.
#ifndef ASTRA_TOOLS_ASTRA_INFO_REPORT_H
#define ASTRA_TOOLS_ASTRA_INFO_REPORT_H

#include "astra/astra.hpp"

namespace astra {

struct LeafReport {
  std::string path, dtype;
  std::vector<std::string> shape;
  std::vector<uint32_t> donors; // of an output
};

struct ValueReport {
  std::string name, type, tree; // tree: as the file has it, JSON if all is well
  size_t firstLeaf = 0, leafCount = 0;
};

struct FunctionReport {
  std::string name, doc, source, memory;
  bool isTest = false;
  std::vector<std::string> dims;
  std::vector<ValueReport> parameters, results;
  std::vector<LeafReport> inputs, outputs;
};

struct KernelReport {
  std::string name, ops, source, variants;
  uint32_t version = 0;
  bool isFused = false, isMissing = false;
};

struct Report {
  std::string path, name, compiler, options, cpuLevels;
  std::string mode; // "strict"
  uint32_t objectAbi = 0, arithmetic = 0;
  uint64_t fileBytes = 0, codeBytes = 0, dataBytes = 0;
  std::vector<FunctionReport> functions;
  std::vector<KernelReport> kernels;
};

Result<Report> describeFile(const Runtime &runtime, const std::string &path);

std::string toText(const Report &report);
std::string toJson(const Report &report);

} // namespace astra
#endif // ASTRA_TOOLS_ASTRA_INFO_REPORT_H
