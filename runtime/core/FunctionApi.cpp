// Finding and describing functions: the public functions.
#include "core/Function.h"
#include "core/Structs.h"
#include <cstring>

using namespace astra;

namespace {

Status noFunction(const astra_module_desc_t &desc, const char *name) {
  std::string names;
  for (uint64_t i = 0; i < desc.export_count; ++i) {
    if (!(desc.exports[i].flags & ASTRA_EXPORT_TEST))
      names += join(names.empty() ? "" : ", ", desc.exports[i].name);
  }
  return fail(ASTRA_ERROR_NOT_FOUND, "module \"", desc.name,
              "\" has no function \"", name,
              "\"; it has: ", names.empty() ? "none" : names.c_str());
}

Status checkIndex(const char *what, size_t index, uint64_t count,
                  const char *function) {
  if (index < count)
    return {};
  return fail(ASTRA_ERROR_OUT_OF_RANGE, "there is no ", what, " ", index,
              "; function \"", function, "\" has ", count);
}

Status describe(const Function &, const astra_value_desc_t &value,
                astra_value_info_t *info) {
  astra_value_info_t full = {};
  full.name = value.name;
  full.type = value.type;
  full.tree = value.tree;
  full.first_leaf = value.first_leaf;
  full.leaf_count = value.leaf_count;
  return writeStruct(ASTRA_STRUCT_INFO(VALUE_INFO, astra_value_info_t), &full,
                     info);
}

Status describe(const Function &function, const astra_leaf_desc_t &leaf,
                astra_leaf_info_t *info) {
  astra_leaf_info_t full = {};
  full.path = leaf.path;
  full.dtype = leaf.dtype;
  full.rank = leaf.rank;
  full.shape = function.module->shapeTexts(leaf);
  const astra_leaf_desc_t *outputs = function.desc.out_leaves;
  if (&leaf >= outputs && &leaf < outputs + function.desc.out_leaf_count) {
    Function::Donors donors = function.donors(uint64_t(&leaf - outputs));
    full.donor_count = donors.count;
    full.donors = donors.inputs;
  }
  return writeStruct(
      ASTRA_GROWN_STRUCT_INFO(LEAF_INFO, astra_leaf_info_t, donor_count), &full,
      info);
}

/// One entry of a list of the function's description.
template <class Desc, class Info>
astra_status_t describeItem(astra_runtime_t *runtime, astra_function_t function,
                            const char *what, size_t index,
                            const Desc *astra_export_desc_t::*items,
                            uint64_t astra_export_desc_t::*count, Info *info,
                            astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Function> object;
    ASTRA_TRY(getObject(runtime, function, object));
    const astra_export_desc_t &desc = object->desc;
    ASTRA_TRY(checkIndex(what, index, desc.*count, desc.name));
    return describe(*object, (desc.*items)[index], info);
  });
}

} // namespace

astra_status_t astra_module_function(astra_runtime_t *runtime,
                                     astra_module_t module, const char *name,
                                     astra_function_t *function,
                                     astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(beginOutput(runtime, function, "function"));
    ASTRA_TRY(need(name, "name"));
    Ref<Module> object;
    ASTRA_TRY(runtime->get(module, object));
    const astra_module_desc_t &desc = object->descriptor();
    for (uint64_t i = 0; i < desc.export_count; ++i) {
      if (std::strcmp(desc.exports[i].name, name) == 0)
        return runtime->insert(make<Function>(object, desc.exports[i]),
                               *function);
    }
    return noFunction(desc, name);
  });
}

astra_status_t astra_module_function_at(astra_runtime_t *runtime,
                                        astra_module_t module, size_t index,
                                        astra_function_t *function,
                                        astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(beginOutput(runtime, function, "function"));
    Ref<Module> object;
    ASTRA_TRY(runtime->get(module, object));
    const astra_module_desc_t &desc = object->descriptor();
    if (index >= desc.export_count)
      return fail(ASTRA_ERROR_OUT_OF_RANGE, "there is no function ", index,
                  "; module \"", desc.name, "\" has ", desc.export_count);
    return runtime->insert(make<Function>(object, desc.exports[index]),
                           *function);
  });
}

astra_status_t astra_function_release(astra_runtime_t *runtime,
                                      astra_function_t function,
                                      astra_error_t **error) {
  return releaseHandle(runtime, Kind::Function, function.bits, error);
}

astra_status_t astra_function_info(astra_runtime_t *runtime,
                                   astra_function_t function,
                                   astra_function_info_t *info,
                                   astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Function> object;
    ASTRA_TRY(getObject(runtime, function, object));
    const astra_export_desc_t &desc = object->desc;
    astra_function_info_t full = {};
    full.name = desc.name;
    full.doc = desc.doc;
    full.dim_count = desc.dim_count;
    full.dim_names = desc.dim_names;
    full.parameter_count = desc.in_value_count;
    full.result_count = desc.out_value_count;
    full.input_count = desc.in_leaf_count;
    full.output_count = desc.out_leaf_count;
    full.flags = desc.flags & ASTRA_EXPORT_TEST ? ASTRA_FUNCTION_TEST : 0;
    full.memory = object->memoryText();
    return writeStruct(
        ASTRA_GROWN_STRUCT_INFO(FUNCTION_INFO, astra_function_info_t, memory),
        &full, info);
  });
}

astra_status_t astra_function_memory(astra_runtime_t *runtime,
                                     astra_function_t function,
                                     const int64_t *dims, size_t dim_count,
                                     uint64_t *workspace, uint64_t *results,
                                     astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Function> object;
    ASTRA_TRY(getObject(runtime, function, object));
    const astra_export_desc_t &desc = object->desc;
    if (dim_count != desc.dim_count)
      return fail(ASTRA_ERROR_COUNT_MISMATCH, "function \"", desc.name,
                  "\" has ", desc.dim_count, " dimensions, but ", dim_count,
                  " were given");
    if (dim_count)
      ASTRA_TRY(need(dims, "dims"));
    int64_t arena = 0, outputs = 0;
    ASTRA_TRY(object->evaluateMemory(dims, arena, outputs));
    if (workspace)
      *workspace = uint64_t(arena);
    if (results)
      *results = uint64_t(outputs);
    return {};
  });
}

astra_status_t astra_function_parameter(astra_runtime_t *runtime,
                                        astra_function_t function, size_t index,
                                        astra_value_info_t *info,
                                        astra_error_t **error) {
  return describeItem(runtime, function, "parameter", index,
                      &astra_export_desc_t::in_values,
                      &astra_export_desc_t::in_value_count, info, error);
}

astra_status_t astra_function_result(astra_runtime_t *runtime,
                                     astra_function_t function, size_t index,
                                     astra_value_info_t *info,
                                     astra_error_t **error) {
  return describeItem(runtime, function, "result", index,
                      &astra_export_desc_t::out_values,
                      &astra_export_desc_t::out_value_count, info, error);
}

astra_status_t astra_function_input(astra_runtime_t *runtime,
                                    astra_function_t function, size_t index,
                                    astra_leaf_info_t *info,
                                    astra_error_t **error) {
  return describeItem(runtime, function, "input", index,
                      &astra_export_desc_t::in_leaves,
                      &astra_export_desc_t::in_leaf_count, info, error);
}

astra_status_t astra_function_output(astra_runtime_t *runtime,
                                     astra_function_t function, size_t index,
                                     astra_leaf_info_t *info,
                                     astra_error_t **error) {
  return describeItem(runtime, function, "output", index,
                      &astra_export_desc_t::out_leaves,
                      &astra_export_desc_t::out_leaf_count, info, error);
}
