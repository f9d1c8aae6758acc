// A report for programs; see Report.h. The members are those of the structs of
// astra.h, with their names.
#include "tools/astra-info/JsonText.h"
#include "tools/astra-info/Report.h"
#include "tools/common/Names.h"

namespace astra {
namespace {

template <class Item, class Write>
std::string listOf(const std::vector<Item> &items, Write write) {
  std::string out = "[";
  for (const Item &item : items)
    out += (out.size() > 1 ? ", " : "") + write(item);
  return out + "]";
}

std::string member(const char *name, const std::string &text) {
  return std::string("\"") + name + "\": " + text;
}
std::string textMember(const char *name, const std::string &text) {
  return member(name, quoteJson(text));
}
std::string numberMember(const char *name, uint64_t number) {
  return member(name, std::to_string(number));
}
std::string flagMember(const char *name, bool flag) {
  return member(name, flag ? "true" : "false");
}

std::string object(std::initializer_list<std::string> members) {
  std::string out = "{";
  for (const std::string &each : members)
    out += (out.size() > 1 ? ", " : "") + each;
  return out + "}";
}

/// The tree is a text of the file's that nobody has looked at: null where it is
/// no JSON.
std::string valueText(const ValueReport &value) {
  return object({textMember("name", value.name), textMember("type", value.type),
                 member("tree", isJson(value.tree) ? value.tree : "null"),
                 numberMember("first_leaf", value.firstLeaf),
                 numberMember("leaf_count", value.leafCount)});
}

std::string leafText(const LeafReport &leaf) {
  return object({textMember("path", leaf.path), textMember("dtype", leaf.dtype),
                 member("shape", listOf(leaf.shape, quoteJson)),
                 member("donors", listOf(leaf.donors, [](uint32_t donor) {
                          return std::to_string(donor);
                        }))});
}

std::string functionText(const FunctionReport &function) {
  return object({textMember("name", function.name),
                 textMember("doc", function.doc),
                 textMember("source", function.source),
                 flagMember("test", function.isTest),
                 member("dims", listOf(function.dims, quoteJson)),
                 member("parameters", listOf(function.parameters, valueText)),
                 member("results", listOf(function.results, valueText)),
                 member("inputs", listOf(function.inputs, leafText)),
                 member("outputs", listOf(function.outputs, leafText)),
                 textMember("memory", function.memory)});
}

std::string kernelText(const KernelReport &kernel) {
  return object(
      {textMember("name", kernel.name), numberMember("version", kernel.version),
       flagMember("fused", kernel.isFused),
       flagMember("missing", kernel.isMissing), textMember("ops", kernel.ops),
       textMember("source", kernel.source),
       textMember("variants", kernel.variants)});
}

} // namespace

std::string toJson(const Report &report) {
  return object({textMember("path", report.path),
                 textMember("name", report.name),
                 textMember("compiler", report.compiler),
                 textMember("options", report.options),
                 textMember("cpu_levels", report.cpuLevels),
                 numberMember("object_abi", report.objectAbi),
                 numberMember("arithmetic", report.arithmetic),
                 textMember("mode", report.mode),
                 numberMember("file_bytes", report.fileBytes),
                 numberMember("code_bytes", report.codeBytes),
                 numberMember("data_bytes", report.dataBytes),
                 member("functions", listOf(report.functions, functionText)),
                 member("kernels", listOf(report.kernels, kernelText))}) +
         "\n";
}

} // namespace astra
