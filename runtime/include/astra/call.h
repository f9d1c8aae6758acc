/* Compiled modules, what their functions take and give, and calls. See astra.h
 * for the rules that hold for every function.
 */
#ifndef ASTRA_CALL_H
#define ASTRA_CALL_H

#include "astra/common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Modules ------------------------------------------------------------- */

/* The descriptor that a compiled object defines as astra_module_<name>. */
struct astra_module_desc;

/* Loads a module that `astrac -shared` made. That the file is whole and
 * its structure is sound is checked before any of its code can run (changes of
 * its code are not noticed: it carries no signature); then its versions, the
 * processor level and all kernels that it imports, the missing ones being
 * listed together.
 * Ownership: one reference, to astra_module_release.
 * Threads: any.
 * Errors: IO; CORRUPT_FILE; UNSUPPORTED_VERSION; CPU_LEVEL; MISSING_KERNEL. */
ASTRA_API astra_status_t astra_module_load(astra_runtime_t *runtime,
                                           const char *path,
                                           astra_module_t *module,
                                           astra_error_t **error);

/* The same for a module linked into the program: &astra_module_<name>. The
 * descriptor must stay while the module has references.
 * Ownership: one reference, to astra_module_release; the descriptor stays the
 *   caller's.
 * Threads: any.
 * Errors: as astra_module_load, but for the file's. */
ASTRA_API astra_status_t astra_module_link(
    astra_runtime_t *runtime, const struct astra_module_desc *descriptor,
    astra_module_t *module, astra_error_t **error);

/* Gives the reference back. A loaded file is unloaded with the last one, of
 * the module and its functions.
 * Ownership: takes one reference; functions and work in flight keep the
 *   module.
 * Threads: any.
 * Errors: INVALID_HANDLE. */
ASTRA_API astra_status_t astra_module_release(astra_runtime_t *runtime,
                                              astra_module_t module,
                                              astra_error_t **error);

typedef struct astra_module_info {
  astra_chain_t chain; /* ASTRA_STRUCT_MODULE_INFO */
  const char *name;
  const char *path;     /* as loaded, or "" */
  const char *compiler; /* "astrac 0.1.0" */
  const char *options;
  const char *cpu_levels; /* "x86-64-v3" */
  uint32_t object_abi;
  uint32_t arithmetic;
  uint32_t mode; /* 0 strict, 1 device, 2 fast */
  uint32_t reserved;
  size_t function_count;
  size_t kernel_count;
} astra_module_info_t;

/* Describes a module.
 * Ownership: the strings belong to the module.
 * Threads: any.
 * Errors: INVALID_HANDLE; INVALID_STRUCT. */
ASTRA_API astra_status_t astra_module_info(astra_runtime_t *runtime,
                                           astra_module_t module,
                                           astra_module_info_t *info,
                                           astra_error_t **error);

/* Kernel `index` of the module: its name, version and the variant that was
 * chosen ("x86-64-v3", "reference"). Any output may be null.
 * Ownership: the strings belong to the module.
 * Threads: any.
 * Errors: INVALID_HANDLE; OUT_OF_RANGE. */
ASTRA_API astra_status_t astra_module_kernel(astra_runtime_t *runtime,
                                             astra_module_t module,
                                             size_t index, const char **name,
                                             uint32_t *version,
                                             const char **variant,
                                             astra_error_t **error);

/* ---- Functions ----------------------------------------------------------- */

/* Finds an exported function by its name in the program, "step".
 * Ownership: one reference, to astra_function_release; it keeps the module.
 * Threads: any.
 * Errors: INVALID_HANDLE; NOT_FOUND lists what there is. */
ASTRA_API astra_status_t astra_module_function(astra_runtime_t *runtime,
                                               astra_module_t module,
                                               const char *name,
                                               astra_function_t *function,
                                               astra_error_t **error);

/* Function `index`, below function_count; tests are among them.
 * Ownership: one reference, to astra_function_release; it keeps the module.
 * Threads: any.
 * Errors: INVALID_HANDLE; OUT_OF_RANGE. */
ASTRA_API astra_status_t astra_module_function_at(astra_runtime_t *runtime,
                                                  astra_module_t module,
                                                  size_t index,
                                                  astra_function_t *function,
                                                  astra_error_t **error);

/* Gives a reference back.
 * Ownership: takes one reference; work in flight keeps the function.
 * Threads: any.
 * Errors: INVALID_HANDLE. */
ASTRA_API astra_status_t astra_function_release(astra_runtime_t *runtime,
                                                astra_function_t function,
                                                astra_error_t **error);

/* flags of astra_function_info_t */
#define ASTRA_FUNCTION_TEST 1u /* a test block: no parameters, no results */

typedef struct astra_function_info {
  astra_chain_t chain; /* ASTRA_STRUCT_FUNCTION_INFO */
  const char *name;
  const char *doc;
  size_t dim_count;
  const char *const *dim_names;
  size_t parameter_count; /* as written in the program */
  size_t result_count;
  size_t input_count; /* leaves: what a call is given */
  size_t output_count;
  uint32_t flags;
  uint32_t reserved;
  /* The bytes that a call holds beside its inputs, at most, as an expression of
   * the dimensions: workspace and results, "4*n*d + 64". What a kernel takes
   * while it runs and what loops leave to their reverse pass come on top. */
  const char *memory;
} astra_function_info_t;

/* Describes a function: its dimensions, and how many parameters, results,
 * inputs and outputs it has.
 * Ownership: the strings belong to the function.
 * Threads: any.
 * Errors: INVALID_HANDLE; INVALID_STRUCT. */
ASTRA_API astra_status_t astra_function_info(astra_runtime_t *runtime,
                                             astra_function_t function,
                                             astra_function_info_t *info,
                                             astra_error_t **error);

/* The bytes of a call's workspace, and of its results, for given dimensions (in
 * the order of dim_names). Either output may be null.
 * Ownership: none.
 * Threads: any.
 * Errors: INVALID_HANDLE; COUNT_MISMATCH for another number of dimensions;
 *   INVALID_ARGUMENT for a negative one; OVERFLOW where a size leaves 64 bits
 *   or an extent that follows from the dimensions is negative. */
ASTRA_API astra_status_t astra_function_memory(
    astra_runtime_t *runtime, astra_function_t function, const int64_t *dims,
    size_t dim_count, uint64_t *workspace, uint64_t *results,
    astra_error_t **error);

/* A parameter or result as the program wrote it. */
typedef struct astra_value_info {
  astra_chain_t chain; /* ASTRA_STRUCT_VALUE_INFO */
  const char *name;
  const char *type; /* "Mlp", "f32[n, 64]" */
  const char *tree; /* JSON of structs, tuples and arrays down to leaves */
  size_t first_leaf;
  size_t leaf_count;
} astra_value_info_t;

/* Describes parameter `index`, below parameter_count.
 * Ownership: the strings belong to the function.
 * Threads: any.
 * Errors: INVALID_HANDLE; OUT_OF_RANGE; INVALID_STRUCT. */
ASTRA_API astra_status_t astra_function_parameter(astra_runtime_t *runtime,
                                                  astra_function_t function,
                                                  size_t index,
                                                  astra_value_info_t *info,
                                                  astra_error_t **error);

/* Describes result `index`, below result_count.
 * Ownership: the strings belong to the function.
 * Threads: any.
 * Errors: INVALID_HANDLE; OUT_OF_RANGE; INVALID_STRUCT. */
ASTRA_API astra_status_t astra_function_result(astra_runtime_t *runtime,
                                               astra_function_t function,
                                               size_t index,
                                               astra_value_info_t *info,
                                               astra_error_t **error);

/* One tensor of a parameter or result. */
typedef struct astra_leaf_info {
  astra_chain_t chain; /* ASTRA_STRUCT_LEAF_INFO */
  const char *path;    /* "m.hidden.w" */
  uint32_t dtype;
  uint32_t rank;
  /* `rank` dimension expressions, "n", "64", "2*d + 1". */
  const char *const *shape;
  /* Of an output: the inputs whose memory it takes if they are donated and
   * dense, the first that is and that no other output has taken. */
  size_t donor_count;
  const uint32_t *donors;
} astra_leaf_info_t;

/* Describes input leaf `index`, below input_count.
 * Ownership: the strings belong to the function.
 * Threads: any.
 * Errors: INVALID_HANDLE; OUT_OF_RANGE; INVALID_STRUCT. */
ASTRA_API astra_status_t astra_function_input(astra_runtime_t *runtime,
                                              astra_function_t function,
                                              size_t index,
                                              astra_leaf_info_t *info,
                                              astra_error_t **error);

/* Describes output leaf `index`, below output_count.
 * Ownership: the strings belong to the function.
 * Threads: any.
 * Errors: INVALID_HANDLE; OUT_OF_RANGE; INVALID_STRUCT. */
ASTRA_API astra_status_t astra_function_output(astra_runtime_t *runtime,
                                               astra_function_t function,
                                               size_t index,
                                               astra_leaf_info_t *info,
                                               astra_error_t **error);

/* ---- Calls --------------------------------------------------------------- */

/* One input of a call: a tensor (dtype 0) or a scalar by value. */
typedef union astra_payload {
  astra_tensor_t tensor;
  uint8_t bool8; /* 0 or 1 */
  int8_t i8;
  int16_t i16;
  int32_t i32;
  int64_t i64;
  uint8_t u8;
  uint16_t u16; /* u16, and the bits of f16 and bf16 */
  uint32_t u32;
  uint64_t u64;
  float f32;
  double f64;
} astra_payload_t;

typedef struct astra_value {
  uint32_t dtype; /* 0: as.tensor; else a scalar of this dtype */
  uint32_t flags; /* ASTRA_VALUE_* */
  astra_payload_t as;
} astra_value_t;

/* The caller's reference passes to the call once the arguments have been found
 * valid, whatever happens after, and the memory may be used for outputs: at
 * once where the compiled function allows that, else after the call. The tensor
 * must have no other reference, view or mapping, and stand in one input only
 * (ASTRA_ERROR_DONATION); earlier calls that still use it do not matter. */
#define ASTRA_VALUE_DONATE 1u

typedef struct astra_call_options {
  astra_chain_t chain; /* ASTRA_STRUCT_CALL_OPTIONS */
  uint64_t flags;      /* none yet: 0 */
  /* Null, or for each output null or a tensor that the result is written into.
   * It must be writable (from astra_tensor_empty, or a part of one, not yet
   * retained, read, viewed, mapped or passed; else ASTRA_ERROR_BUSY), dense,
   * and have the dtype and shape of the output, and be no input. It is consumed
   * like a donated input, and the output takes its place. The array may be that
   * of the outputs, which are null after a failure. */
  const astra_tensor_t *targets;
  size_t target_count; /* 0, or the number of outputs */
} astra_call_options_t;

/* Calls a function on a stream. `inputs` are its input leaves in order,
 * `outputs` receives one tensor for each output leaf; the counts must be
 * those of astra_function_info. Inputs are checked at once (count, dtype,
 * rank, extents, device); the work may be done later, and its errors surface
 * where an output is waited for. The inputs may be released as soon as this
 * returns. `options` may be null.
 * Ownership: one reference an output, to astra_tensor_release; inputs stay
 *   the caller's but for donated ones and targets.
 * Threads: any; in a stream without threads the work is done on it.
 * Errors: INVALID_HANDLE; COUNT_, SHAPE_, DTYPE_, DEVICE_ and
 *   LAYOUT_MISMATCH; DONATION; BUSY; OVERFLOW; OUT_OF_MEMORY; INVALID_STRUCT;
 *   INVALID_ARGUMENT for unknown flags; UNIMPLEMENTED for a device that runs
 *   nothing. Those of the work come later, where an output is waited for. */
ASTRA_API astra_status_t astra_function_call(
    astra_runtime_t *runtime, astra_function_t function, astra_stream_t stream,
    const astra_call_options_t *options, const astra_value_t *inputs,
    size_t input_count, astra_tensor_t *outputs, size_t output_count,
    astra_error_t **error);

/* ---- Values, built inline ------------------------------------------------ */

static inline astra_value_t astra_value_of_tensor(astra_tensor_t tensor) {
  astra_value_t value = {0, 0, {{0}}};
  value.as.tensor = tensor;
  return value;
}

#define ASTRA_DEFINE_VALUE(NAME, DTYPE, TYPE, MEMBER)                          \
  static inline astra_value_t astra_value_of_##NAME(TYPE scalar) {             \
    astra_value_t value = {DTYPE, 0, {{0}}};                                   \
    value.as.MEMBER = scalar;                                                  \
    return value;                                                              \
  }
ASTRA_DEFINE_VALUE(bool, ASTRA_BOOL, uint8_t, bool8)
ASTRA_DEFINE_VALUE(i8, ASTRA_I8, int8_t, i8)
ASTRA_DEFINE_VALUE(i16, ASTRA_I16, int16_t, i16)
ASTRA_DEFINE_VALUE(i32, ASTRA_I32, int32_t, i32)
ASTRA_DEFINE_VALUE(i64, ASTRA_I64, int64_t, i64)
ASTRA_DEFINE_VALUE(u8, ASTRA_U8, uint8_t, u8)
ASTRA_DEFINE_VALUE(u16, ASTRA_U16, uint16_t, u16)
ASTRA_DEFINE_VALUE(u32, ASTRA_U32, uint32_t, u32)
ASTRA_DEFINE_VALUE(u64, ASTRA_U64, uint64_t, u64)
ASTRA_DEFINE_VALUE(f16, ASTRA_F16, uint16_t, u16)
ASTRA_DEFINE_VALUE(bf16, ASTRA_BF16, uint16_t, u16)
ASTRA_DEFINE_VALUE(f32, ASTRA_F32, float, f32)
ASTRA_DEFINE_VALUE(f64, ASTRA_F64, double, f64)
#undef ASTRA_DEFINE_VALUE

#ifdef __cplusplus
}
#endif
#endif /* ASTRA_CALL_H */
