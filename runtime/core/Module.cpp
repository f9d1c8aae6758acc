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
                      Ref<Library> library, const std::string &path,
                      Ref<Module> &module) {
  std::string what = path.empty() ? "the linked module" : "\"" + path + "\"";
  ASTRA_TRY(checkDescriptor(what, descriptor));
  Ref<Module> made(new Module(descriptor, std::move(library), path));
  ASTRA_TRY(made->resolveKernels(runtime.kernels));
  made->collectShapeTexts();
  made->nameFused(runtime.kernels);
  module = made;
  return {};
}

Status Module::resolveKernels(const KernelSet &kernels) {
  std::string missing;
  for (uint64_t i = 0; i < desc->import_count; ++i) {
    const astra_import_desc_t &import = desc->imports[i];
    const astra_kernel_entry *entry = kernels.find(import.name);
    if (entry && entry->version == import.version) {
      entries.push_back(entry);
      functions.push_back(entry->fn);
      continue;
    }
    missing += join(missing.empty() ? "" : ", ", import.name, " version ",
                    import.version);
    if (entry)
      missing += join(" (this runtime has version ", entry->version, ")");
  }
  if (missing.empty())
    return {};
  return fail(ASTRA_ERROR_MISSING_KERNEL, "module \"", desc->name,
              "\" needs kernels that this runtime (", astra_version_text(),
              ") does not have: ", missing);
}

void Module::nameFused(const KernelSet &kernels) {
  uint64_t count = desc->object_abi < 2 ? 0 : desc->fused_count;
  for (uint64_t i = 0; i < count; ++i)
    fusedNames.push_back(join(desc->fused[i].name, ": ", desc->fused[i].ops));
  if (const astra_kernel_entry *loops = kernels.find("fused_map"))
    fusedLevel = std::max(loops->isa_level, ASTRA_ISA_LEAST);
}

Module::KernelInfo Module::importInfo(size_t index) const {
  const astra_kernel_entry &entry = *entries[index];
  return {entry.name, entry.version,
          entry.isa_level ? entry.isa_level : ASTRA_CPU_REFERENCE};
}

Module::KernelInfo Module::fusedInfo(size_t index) const {
  return {fusedNames[index].c_str(), 1, fusedLevel};
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

} // namespace astra
