// The public functions of inspect.h.
#include "core/Function.h"
#include "core/Inspect.h"
#include "core/Structs.h"

using namespace astra;

astra_status_t astra_module_inspect(astra_runtime_t *runtime, const char *path,
                                    astra_module_t *module,
                                    astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(beginOutput(runtime, module, "module"));
    ASTRA_TRY(need(path, "path"));
    auto inspection = make<Inspection>();
    ASTRA_TRY(inspection->read(path));
    const astra_module_desc_t *desc = &inspection->desc;
    ModuleOrigin origin{path, inspection->sizes, inspection,
                        /*isInspected=*/true};
    Ref<Module> made;
    ASTRA_TRY(Module::create(*runtime, desc, std::move(origin), made));
    return runtime->insert(made, *module);
  });
}

astra_status_t astra_module_sizes(astra_runtime_t *runtime,
                                  astra_module_t module,
                                  astra_module_sizes_t *sizes,
                                  astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Module> object;
    ASTRA_TRY(getObject(runtime, module, object));
    astra_module_sizes_t full = {};
    full.file_bytes = object->sizes().file;
    full.code_bytes = object->sizes().code;
    full.data_bytes = object->sizes().data;
    return writeStruct(ASTRA_STRUCT_INFO(MODULE_SIZES, astra_module_sizes_t),
                       &full, sizes);
  });
}

astra_status_t astra_module_kernel_info(astra_runtime_t *runtime,
                                        astra_module_t module, size_t index,
                                        astra_kernel_info_t *info,
                                        astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Module> object;
    ASTRA_TRY(getObject(runtime, module, object));
    const Module::KernelInfo *kernel = nullptr;
    ASTRA_TRY(object->findKernel(index, kernel));
    astra_kernel_info_t full = {};
    full.name = kernel->name.c_str();
    full.ops = kernel->ops.c_str();
    full.source = kernel->source.c_str();
    full.variant =
        kernel->isMissing() ? "" : astra_cpu_level_name(kernel->level);
    full.variants = kernel->variants.c_str();
    full.version = kernel->version;
    full.flags = (kernel->isFused() ? ASTRA_KERNEL_FUSED : 0) |
                 (kernel->isMissing() ? ASTRA_KERNEL_MISSING : 0);
    return writeStruct(ASTRA_STRUCT_INFO(KERNEL_INFO, astra_kernel_info_t),
                       &full, info);
  });
}

astra_status_t astra_function_source(astra_runtime_t *runtime,
                                     astra_function_t function,
                                     const char **source,
                                     astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Function> object;
    ASTRA_TRY(getObject(runtime, function, object));
    ASTRA_TRY(need(source, "source"));
    *source = object->source();
    return {};
  });
}
