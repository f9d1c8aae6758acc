// The checks of Descriptor.h: versions first, since they say how to read the
// rest, then every pointer, count and dimension expression.
#include "core/Descriptor.h"
#include "core/Cpu.h"
#include "core/DimCode.h"
#include "core/Dtype.h"
#include <tuple>

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

bool isStage(const astra_stage_desc_t &stage, uint64_t slotCount) {
  uint64_t operands = uint64_t(stage.input_count) + stage.output_count;
  if (operands > ASTRA_FUSED_MOST_SLOTS || !isArray(stage.slots, operands))
    return false;
  for (astra_block_fn code : stage.code) {
    if (!code)
      return false;
  }
  for (uint64_t i = 0; i < operands; ++i) {
    if (stage.slots[i] < 0 || uint64_t(stage.slots[i]) >= slotCount)
      return false;
  }
  return true;
}

bool isFused(const astra_fused_desc_t &fused) {
  if (!fused.name || !fused.ops || fused.stage_count == 0 ||
      fused.slot_count > ASTRA_FUSED_MOST_SLOTS || fused.arg_count == 0 ||
      fused.arg_count > fused.slot_count || fused.row_axes > ASTRA_MAX_RANK ||
      !isArray(fused.slots, fused.slot_count) ||
      !isArray(fused.stages, fused.stage_count))
    return false;
  for (uint64_t i = 0; i < fused.slot_count; ++i) {
    if (fused.slots[i].kind > ASTRA_SLOT_TOP ||
        !findDtype(fused.slots[i].dtype))
      return false;
  }
  for (uint64_t i = 0; i < fused.stage_count; ++i) {
    if (!isStage(fused.stages[i], fused.slot_count))
      return false;
  }
  return true;
}

/// The fused kernels, which descriptors have since version 3.
Status checkFused(const std::string &what, const astra_module_desc_t &desc) {
  if (desc.object_abi < 3)
    return {};
  if (!isArray(desc.fused, desc.fused_count))
    return damaged(what, "a table is missing or too large");
  for (uint64_t i = 0; i < desc.fused_count; ++i) {
    if (!isFused(desc.fused[i]))
      return damaged(what, join("fused kernel ", i, " has a bad entry"));
  }
  return {};
}

bool isDonation(const astra_module_desc_t &desc,
                const astra_donation_desc_t &donation) {
  if (donation.export_index >= desc.export_count)
    return false;
  const astra_export_desc_t &function = desc.exports[donation.export_index];
  return donation.output < function.out_leaf_count &&
         donation.input < function.in_leaf_count;
}

bool isBefore(const astra_donation_desc_t &a, const astra_donation_desc_t &b) {
  return std::tie(a.export_index, a.output, a.input) <
         std::tie(b.export_index, b.output, b.input);
}

/// Outputs that may lie in an input's memory, since version 3.
Status checkDonations(const std::string &what,
                      const astra_module_desc_t &desc) {
  if (desc.object_abi < 3)
    return {};
  if (!isArray(desc.donations, desc.donation_count))
    return damaged(what, "a table is missing or too large");
  for (uint64_t i = 0; i < desc.donation_count; ++i) {
    if (!isDonation(desc, desc.donations[i]) ||
        (i && !isBefore(desc.donations[i - 1], desc.donations[i])))
      return damaged(what, join("donation ", i, " has a bad entry"));
  }
  return {};
}

bool arePlaces(const astra_module_desc_t &desc, const int64_t *places,
               uint64_t count) {
  if (!isArray(places, count))
    return false;
  for (uint64_t i = 0; i < count; ++i)
    if (places[i] < 0 || uint64_t(places[i]) >= desc.location_count)
      return false;
  return true;
}

/// Places in the source, since version 3; either table may be missing.
Status checkPlaces(const std::string &what, const astra_module_desc_t &desc) {
  if (desc.object_abi < 3)
    return {};
  for (uint64_t i = 0; desc.fused_places && i < desc.fused_count; ++i)
    if (!arePlaces(desc, desc.fused_places[i].locations,
                   desc.fused_places[i].count))
      return damaged(what, join("the places of fused kernel ", i));
  if (desc.export_places &&
      !arePlaces(desc, desc.export_places, desc.export_count))
    return damaged(what, "the places of exports");
  return {};
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

/// The code runs if one of its levels is this processor's.
Status checkCpuLevels(const std::string &what, const std::string &levels) {
  size_t begin = 0;
  while (begin <= levels.size()) {
    size_t end = levels.find_first_of(", ", begin);
    end = end == std::string::npos ? levels.size() : end;
    uint32_t level = cpuLevelOfName(levels.substr(begin, end - begin));
    if (level && hasCpuLevel(level))
      return {};
    begin = end + 1;
  }
  return fail(ASTRA_ERROR_CPU_LEVEL, what, " has code for ", levels,
              ", but this processor is ",
              astra_cpu_level_name(detectCpuLevel()),
              "; compile it for this level");
}

} // namespace

Status checkVersions(const std::string &what, uint32_t objectAbi,
                     uint32_t arithmetic) {
  // An older version is a part of this one.
  if (objectAbi < ASTRA_OBJECT_ABI_OLDEST ||
      objectAbi > ASTRA_OBJECT_ABI_VERSION)
    return fail(ASTRA_ERROR_UNSUPPORTED_VERSION, what,
                " has object ABI version ", objectAbi, ", but this runtime (",
                astra_version_text(), ") runs object ABI versions ",
                ASTRA_OBJECT_ABI_OLDEST, " to ", ASTRA_OBJECT_ABI_VERSION,
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
  constexpr uint64_t sizes[] = {ASTRA_MODULE_DESC_SIZE_1,
                                ASTRA_MODULE_DESC_SIZE_2,
                                sizeof(astra_module_desc_t)};
  uint64_t size = sizes[descriptor->object_abi - ASTRA_OBJECT_ABI_OLDEST];
  if (descriptor->struct_size != size)
    return damaged(what,
                   join("its size is ", descriptor->struct_size, ", but ABI ",
                        descriptor->object_abi, " has ", size));
  ASTRA_TRY(checkTables(what, *descriptor));
  ASTRA_TRY(checkFused(what, *descriptor));
  ASTRA_TRY(checkDonations(what, *descriptor));
  return checkPlaces(what, *descriptor);
}

Status checkProcessor(const std::string &what,
                      const astra_module_desc_t &descriptor) {
  return checkCpuLevels(what, descriptor.cpu_levels);
}

} // namespace astra
