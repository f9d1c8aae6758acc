// The public functions of modules.
#include "core/Descriptor.h"
#include "core/Elf.h"
#include "core/Module.h"
#include "core/Structs.h"
#include <cstdlib>
#include <dlfcn.h>
#include <memory>

using namespace astra;

namespace {

/// The path that names the file wherever the process stands: a plain name would
/// make the system's loader search its own folders.
std::string absolutePath(const std::string &path) {
  std::unique_ptr<char, void (*)(void *)> real(realpath(path.c_str(), nullptr),
                                               std::free);
  return real ? std::string(real.get()) : path;
}

Status loadLibrary(const std::string &path, ModuleOrigin &origin,
                   const astra_module_desc_t *&descriptor) {
  origin.path = path;
  ASTRA_TRY(checkModuleFile(path, &origin.sizes));
  void *handle = dlopen(absolutePath(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return fail(ASTRA_ERROR_CORRUPT_FILE, "\"", path,
                "\" cannot be loaded: ", dlerror());
  origin.owner = make<Library>(handle);
  descriptor = static_cast<const astra_module_desc_t *>(
      dlsym(handle, ASTRA_MODULE_SYMBOL));
  if (!descriptor)
    return fail(ASTRA_ERROR_CORRUPT_FILE, "\"", path,
                "\" is not an Astra module: it has no symbol "
                "\"" ASTRA_MODULE_SYMBOL "\"");
  return {};
}

} // namespace

astra_status_t astra_module_load(astra_runtime_t *runtime, const char *path,
                                 astra_module_t *module,
                                 astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(beginOutput(runtime, module, "module"));
    ASTRA_TRY(need(path, "path"));
    ModuleOrigin origin;
    const astra_module_desc_t *descriptor = nullptr;
    ASTRA_TRY(loadLibrary(path, origin, descriptor));
    Ref<Module> made;
    ASTRA_TRY(Module::create(*runtime, descriptor, std::move(origin), made));
    return runtime->insert(made, *module);
  });
}

astra_status_t astra_module_link(astra_runtime_t *runtime,
                                 const struct astra_module_desc *descriptor,
                                 astra_module_t *module,
                                 astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(beginOutput(runtime, module, "module"));
    Ref<Module> made;
    ASTRA_TRY(Module::create(*runtime, descriptor, {}, made));
    return runtime->insert(made, *module);
  });
}

astra_status_t astra_module_release(astra_runtime_t *runtime,
                                    astra_module_t module,
                                    astra_error_t **error) {
  return releaseHandle(runtime, Kind::Module, module.bits, error);
}

astra_status_t astra_module_info(astra_runtime_t *runtime,
                                 astra_module_t module,
                                 astra_module_info_t *info,
                                 astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Module> object;
    ASTRA_TRY(getObject(runtime, module, object));
    const astra_module_desc_t &desc = object->descriptor();
    astra_module_info_t full = {};
    full.name = desc.name;
    full.path = object->path().c_str();
    full.compiler = desc.compiler;
    full.options = desc.options;
    full.cpu_levels = desc.cpu_levels;
    full.object_abi = desc.object_abi;
    full.arithmetic = desc.arithmetic;
    full.mode = desc.mode;
    full.function_count = desc.export_count;
    full.kernel_count = object->kernelCount();
    return writeStruct(ASTRA_STRUCT_INFO(MODULE_INFO, astra_module_info_t),
                       &full, info);
  });
}

astra_status_t astra_module_kernel(astra_runtime_t *runtime,
                                   astra_module_t module, size_t index,
                                   const char **name, uint32_t *version,
                                   const char **variant,
                                   astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Module> object;
    ASTRA_TRY(getObject(runtime, module, object));
    const Module::KernelInfo *info = nullptr;
    ASTRA_TRY(object->findKernel(index, info));
    if (name)
      *name = info->label.c_str();
    if (version)
      *version = info->version;
    if (variant)
      *variant = astra_cpu_level_name(info->level);
    return {};
  });
}
