// The checks of Descriptor.h: versions first, since they say how to read the
// rest, then every pointer, count and dimension expression.
#include "core/Descriptor.h"
#include "core/Cpu.h"
#include "core/DimCode.h"
#include "core/Dtype.h"

namespace astra {
namespace {

constexpr uint64_t mostEntries = 1 << 20;

Status damaged(const std::string &what, const std::string &part) {
  return fail(ASTRA_ERROR_CORRUPT_FILE, "the descriptor of ", what,
              " is damaged: ", part);
}

/// An array may be null only if it is empty.
bool isArray(const void *array, uint64_t count) {
  return count <= mostEntries && (array || count == 0);
}

bool areLeaves(const astra_leaf_desc_t *leaves, uint64_t count,
               uint64_t dimCount) {
  for (uint64_t i = 0; i < count; ++i) {
    const astra_leaf_desc_t &leaf = leaves[i];
    if (!leaf.path || !findDtype(leaf.dtype) || leaf.rank > ASTRA_MAX_RANK ||
        !isArray(leaf.shape, leaf.rank))
      return false;
    for (uint32_t axis = 0; axis < leaf.rank; ++axis) {
      if (!isValidDimCode(leaf.shape[axis], dimCount))
        return false;
    }
  }
  return true;
}

bool areValues(const astra_value_desc_t *values, uint64_t count,
               uint64_t leafCount) {
  for (uint64_t i = 0; i < count; ++i) {
    const astra_value_desc_t &value = values[i];
    if (!value.name || !value.type || !value.tree ||
        uint64_t(value.first_leaf) + value.leaf_count > leafCount)
      return false;
  }
  return true;
}

bool isExport(const astra_export_desc_t &function) {
  uint64_t dims = function.dim_count;
  if (!function.name || !function.doc || !function.entry ||
      !isArray(function.dim_names, dims) ||
      !isArray(function.in_values, function.in_value_count) ||
      !isArray(function.out_values, function.out_value_count) ||
      !isArray(function.in_leaves, function.in_leaf_count) ||
      !isArray(function.out_leaves, function.out_leaf_count) ||
      !isArray(function.inner_dims, function.inner_dim_count))
    return false;
  for (uint64_t i = 0; i < dims; ++i) {
    if (!function.dim_names[i])
      return false;
  }
  for (uint64_t i = 0; i < function.inner_dim_count; ++i) {
    if (!isValidDimCode(function.inner_dims[i], dims))
      return false;
  }
  return areLeaves(function.in_leaves, function.in_leaf_count, dims) &&
         areLeaves(function.out_leaves, function.out_leaf_count, dims) &&
         areValues(function.in_values, function.in_value_count,
                   function.in_leaf_count) &&
         areValues(function.out_values, function.out_value_count,
                   function.out_leaf_count) &&
         isValidDimCode(function.workspace_bytes, dims);
}

Status checkTables(const std::string &what, const astra_module_desc_t &desc) {
  if (!desc.name || !desc.compiler || !desc.options || !desc.cpu_levels)
    return damaged(what, "a text is missing");
  if (!isArray(desc.exports, desc.export_count) ||
      !isArray(desc.imports, desc.import_count) ||
      !isArray(desc.locations, desc.location_count))
    return damaged(what, "a table is missing or too large");
  for (uint64_t i = 0; i < desc.export_count; ++i) {
    if (!isExport(desc.exports[i]))
      return damaged(what, join("export ", i, " has a bad entry"));
  }
  for (uint64_t i = 0; i < desc.import_count; ++i) {
    if (!desc.imports[i].name)
      return damaged(what, join("import ", i, " has no name"));
  }
  for (uint64_t i = 0; i < desc.location_count; ++i) {
    if (!desc.locations[i].file)
      return damaged(what, join("location ", i, " has no file"));
  }
  return {};
}

/// The code runs if the lowest level that it has is one of this processor's.
Status checkCpuLevels(const std::string &what, const std::string &levels) {
  uint32_t machine = detectCpuLevel(), lowest = 0;
  size_t begin = 0;
  while (begin <= levels.size()) {
    size_t end = levels.find_first_of(", ", begin);
    end = end == std::string::npos ? levels.size() : end;
    uint32_t level = cpuLevelOfName(levels.substr(begin, end - begin));
    if (level && (!lowest || level < lowest))
      lowest = level;
    begin = end + 1;
  }
  if (lowest && lowest <= machine)
    return {};
  return fail(ASTRA_ERROR_CPU_LEVEL, what, " has code for ", levels,
              ", but this processor is ", astra_cpu_level_name(machine),
              "; compile it for this level");
}

} // namespace

Status checkVersions(const std::string &what, uint32_t objectAbi,
                     uint32_t arithmetic) {
  // An older version is a part of this one.
  if (objectAbi < 1 || objectAbi > ASTRA_OBJECT_ABI_VERSION)
    return fail(ASTRA_ERROR_UNSUPPORTED_VERSION, what,
                " has object ABI version ", objectAbi, ", but this runtime (",
                astra_version_text(), ") runs object ABI version ",
                ASTRA_OBJECT_ABI_VERSION,
                "; compile it again or use the runtime it was made for");
  if (arithmetic != ASTRA_ARITHMETIC_VERSION)
    return fail(ASTRA_ERROR_UNSUPPORTED_VERSION, what,
                " has arithmetic version ", arithmetic, ", but this runtime (",
                astra_version_text(), ") has arithmetic version ",
                ASTRA_ARITHMETIC_VERSION,
                "; compile it again or use the runtime it was made for");
  return {};
}

Status checkDescriptor(const std::string &what,
                       const astra_module_desc_t *descriptor) {
  ASTRA_TRY(need(descriptor, "descriptor"));
  if (descriptor->magic != ASTRA_MODULE_MAGIC)
    return damaged(what, "it does not begin as a descriptor does");
  ASTRA_TRY(
      checkVersions(what, descriptor->object_abi, descriptor->arithmetic));
  if (descriptor->struct_size != sizeof(astra_module_desc_t))
    return damaged(what, join("its size is ", descriptor->struct_size,
                              ", but ABI ", ASTRA_OBJECT_ABI_VERSION, " has ",
                              sizeof(astra_module_desc_t)));
  ASTRA_TRY(checkTables(what, *descriptor));
  return checkCpuLevels(what, descriptor->cpu_levels);
}

} // namespace astra
