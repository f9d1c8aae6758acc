// Making modules: descriptor checks and kernel resolution; see Module.h.
#include "core/Module.h"
#include "core/Descriptor.h"
#include <algorithm>
#include <dlfcn.h>

namespace astra {

Library::~Library() {
  if (handle)
    dlclose(handle);
}

Status Module::create(const astra_runtime &runtime,
                      const astra_module_desc_t *descriptor,
                      ModuleOrigin origin, Ref<Module> &module) {
  bool isInspected = origin.isInspected;
  std::string what =
      origin.path.empty() ? "the linked module" : "\"" + origin.path + "\"";
  ASTRA_TRY(checkDescriptor(what, descriptor));
  if (!isInspected)
    ASTRA_TRY(checkProcessor(what, *descriptor));
  Ref<Module> made(new Module(descriptor, std::move(origin)));
  Status resolved = made->resolveKernels(runtime.kernels);
  if (!resolved.ok() && !isInspected)
    return resolved;
  made->collectShapeTexts();
  module = made;
  return {};
}

Status Module::resolveKernels(const KernelSet &kernels) {
  std::string missing;
  for (uint64_t i = 0; i < desc->import_count; ++i) {
    const astra_import_desc_t &import = desc->imports[i];
    const astra_kernel_entry *entry = kernels.find(import.name);
    bool isKnown = entry && entry->version == import.version;
    entries.push_back(isKnown ? entry : nullptr);
    functions.push_back(isKnown ? entry->fn : nullptr);
    if (isKnown)
      continue;
    missing += join(missing.empty() ? "" : ", ", import.name, " version ",
                    import.version);
    if (entry)
      missing += join(" (this runtime has version ", entry->version, ")");
  }
  if (const astra_kernel_entry *loops = kernels.find("fused_map"))
    fusedLevel = std::max(loops->isa_level, ASTRA_ISA_LEAST);
  if (missing.empty())
    return {};
  return fail(ASTRA_ERROR_MISSING_KERNEL, "module \"", desc->name,
              "\" needs kernels that this runtime (", astra_version_text(),
              ") does not have: ", missing);
}

//===-- Introspection -----------------------------------------------------===//

static uint32_t levelOf(const astra_kernel_entry &entry) {
  return entry.isa_level ? entry.isa_level : uint32_t(ASTRA_CPU_REFERENCE);
}

Module::KernelInfo Module::describeImport(uint64_t index) const {
  const astra_import_desc_t &import = desc->imports[index];
  KernelInfo info;
  info.name = info.label = import.name;
  info.version = import.version;
  info.level = entries[index] ? levelOf(*entries[index]) : 0;
  for (uint64_t i = 0; i < astra_kernel_table_size; ++i) {
    const astra_kernel_entry &entry = astra_kernel_table[i];
    if (info.name == entry.name && entry.version == import.version)
      info.variants += join(info.variants.empty() ? "" : ", ",
                            astra_cpu_level_name(levelOf(entry)));
  }
  return info;
}

/// The levels that a fused kernel has: the module's lowest, and x86-64-v4 where
/// all of its blocks are there. An Arm module's second place is its first.
static std::string blockLevels(const astra_module_desc_t &desc,
                               const astra_fused_desc_t &fused) {
  const std::string lowest = desc.cpu_levels;
  if (lowest != astra_cpu_level_name(ASTRA_CPU_X86_64_V3))
    return lowest;
  for (uint32_t i = 0; i < fused.stage_count; ++i)
    if (!fused.stages[i].code[ASTRA_BLOCK_X86_64_V4])
      return lowest;
  return join(lowest, ", ", astra_cpu_level_name(ASTRA_CPU_X86_64_V4));
}

Module::KernelInfo Module::describeFused(uint64_t index) const {
  KernelInfo info;
  info.name = desc->fused[index].name;
  info.ops = desc->fused[index].ops;
  info.label = join(info.name, ": ", info.ops);
  info.source = fusedSource(index);
  info.variants = blockLevels(*desc, desc->fused[index]);
  info.level = fusedLevel;
  return info;
}

void Module::describeKernels() const {
  std::lock_guard<std::mutex> lock(describing);
  if (isDescribed)
    return;
  std::vector<KernelInfo> made; // all of them, or none for want of memory
  for (uint64_t i = 0; i < desc->import_count; ++i)
    made.push_back(describeImport(i));
  for (uint64_t i = 0; i < fusedCount(); ++i)
    made.push_back(describeFused(i));
  infos.swap(made);
  isDescribed = true;
}

Status Module::findKernel(size_t index, const KernelInfo *&info) const {
  describeKernels();
  if (index >= infos.size())
    return fail(ASTRA_ERROR_OUT_OF_RANGE, "there is no kernel ", index,
                "; the module has ", infos.size());
  info = &infos[index];
  return {};
}

void Module::collectShapeTexts() {
  auto collect = [&](const astra_leaf_desc_t *leaves, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      textStarts.emplace_back(&leaves[i], texts.size());
      for (uint32_t axis = 0; axis < leaves[i].rank; ++axis)
        texts.push_back(leaves[i].shape[axis].text);
    }
  };
  for (uint64_t i = 0; i < desc->export_count; ++i) {
    collect(desc->exports[i].in_leaves, desc->exports[i].in_leaf_count);
    collect(desc->exports[i].out_leaves, desc->exports[i].out_leaf_count);
  }
  std::sort(textStarts.begin(), textStarts.end());
}

const char *const *Module::shapeTexts(const astra_leaf_desc_t &leaf) const {
  auto found = std::lower_bound(textStarts.begin(), textStarts.end(),
                                std::make_pair(&leaf, size_t(0)));
  return texts.data() + found->second;
}

std::string Module::location(uint64_t index) const {
  if (index >= desc->location_count)
    return {};
  const astra_location_desc_t &place = desc->locations[index];
  return join(place.file, ":", place.line, ":", place.column);
}

std::string Module::fusedSource(uint64_t index) const {
  std::string text;
  if (desc->object_abi < 3 || !desc->fused_places)
    return text;
  const astra_places_desc_t &places = desc->fused_places[index];
  std::string last;
  for (uint64_t i = 0; i < places.count; ++i) {
    const astra_location_desc_t &place =
        desc->locations[size_t(places.locations[i])];
    std::string line = join(place.file, ":", place.line);
    if (line != last)
      text += join(text.empty() ? "" : ", ", line);
    last = line;
  }
  return text;
}

std::string Module::exportSource(const astra_export_desc_t &function) const {
  if (desc->object_abi < 3 || !desc->export_places)
    return {};
  return location(uint64_t(desc->export_places[&function - desc->exports]));
}

} // namespace astra
