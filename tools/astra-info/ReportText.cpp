// A report for people; see Report.h.
#include "tools/astra-info/Report.h"

namespace astra {
namespace {

/// Each line of `words`, behind an indentation.
std::string indent(const std::string &words, const std::string &by) {
  std::string out;
  for (size_t begin = 0; begin < words.size();) {
    size_t end = words.find('\n', begin);
    end = end == std::string::npos ? words.size() : end;
    out += by + words.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return out;
}

std::string joinWith(const std::vector<std::string> &parts,
                     const char *between) {
  std::string out;
  for (const std::string &part : parts)
    out += (out.empty() ? "" : between) + part;
  return out;
}

std::string typeOf(const LeafReport &leaf) {
  return leaf.dtype +
         (leaf.shape.empty() ? "" : "[" + joinWith(leaf.shape, ", ") + "]");
}

/// "fit(line: Line, x: f32[n]) -> Line"
std::string signatureOf(const FunctionReport &function) {
  std::vector<std::string> parameters, results;
  for (const ValueReport &value : function.parameters)
    parameters.push_back(value.name + ": " + value.type);
  for (const ValueReport &value : function.results)
    results.push_back(value.type);
  std::string result = joinWith(results, ", ");
  return function.name + "(" + joinWith(parameters, ", ") + ") -> " +
         (results.size() == 1 ? result : "(" + result + ")");
}

std::string leafLines(const char *title, const std::vector<LeafReport> &leaves,
                      const std::vector<LeafReport> &inputs) {
  std::string out;
  for (const LeafReport &leaf : leaves) {
    out += std::string("    ") + title + " " +
           (leaf.path.empty() ? "" : leaf.path + ": ") + typeOf(leaf);
    std::vector<std::string> donors;
    for (uint32_t donor : leaf.donors)
      if (donor < inputs.size())
        donors.push_back(inputs[donor].path);
    if (!donors.empty())
      out += "  (in the place of " + joinWith(donors, " or ") + " if donated)";
    out += "\n";
  }
  return out;
}

std::string functionText(const FunctionReport &function) {
  std::string out = "  " + signatureOf(function) + "\n";
  out += indent(function.doc, "    ");
  if (!function.source.empty())
    out += "    at " + function.source + "\n";
  if (!function.dims.empty())
    out += "    dimensions " + joinWith(function.dims, ", ") + "\n";
  out += leafLines("in ", function.inputs, function.inputs);
  out += leafLines("out", function.outputs, function.inputs);
  return out + "    memory " + function.memory + " bytes\n";
}

std::string kernelText(const KernelReport &kernel) {
  std::string out =
      "  " + kernel.name + " version " + std::to_string(kernel.version);
  if (kernel.isFused)
    out += ": " + kernel.ops;
  if (!kernel.variants.empty())
    out += " (" + kernel.variants + ")";
  if (kernel.isMissing)
    out += ", which this runtime does not have";
  if (!kernel.source.empty())
    out += "\n    at " + kernel.source;
  return out + "\n";
}

} // namespace

std::string toText(const Report &report) {
  std::string out = report.path + ": module " + report.name + "\n";
  out += "  made by " + report.compiler +
         (report.options.empty() ? "" : " with " + report.options) + "\n";
  out += "  object ABI " + std::to_string(report.objectAbi) + ", arithmetic " +
         std::to_string(report.arithmetic) + ", " + report.mode + ", needs " +
         report.cpuLevels + "\n";
  out += "  " + std::to_string(report.fileBytes) +
         " bytes: " + std::to_string(report.codeBytes) + " of code, " +
         std::to_string(report.dataBytes) + " of constants and tables\n";
  size_t tests = 0;
  out += "\nfunctions\n";
  for (const FunctionReport &function : report.functions) {
    tests += function.isTest;
    if (!function.isTest)
      out += functionText(function) + "\n";
  }
  if (tests)
    out += "  and " + std::to_string(tests) + " tests\n\n";
  out += "kernels\n";
  for (const KernelReport &kernel : report.kernels)
    out += kernelText(kernel);
  return out;
}

} // namespace astra
