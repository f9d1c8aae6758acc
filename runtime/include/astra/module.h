/* The object ABI: what a compiled module and the runtime agree on, and what a
 * prebuilt kernel is given. Generated objects define one descriptor and one
 * entry function per export; the runtime reads the descriptor, resolves the
 * imported kernels once at load, checks every call against it and then calls
 * the entry. It is separate from the public C API (astra.h): programs never
 * include this file, and it knows nothing of the compiler.
 *
 * Plain C99. Structs only grow at their end, together with
 * ASTRA_OBJECT_ABI_VERSION; the layout is asserted in the runtime.
 */
#ifndef ASTRA_MODULE_H
#define ASTRA_MODULE_H

#include "astra/base.h"
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this file and of the numerical rules (docs/arithmetic.md).
 * A runtime refuses a module whose versions it does not know; it knows every
 * object ABI from the oldest on. 2 added tapes, 3 fused kernels, donations and
 * places in the source. */
#define ASTRA_OBJECT_ABI_VERSION 3u
#define ASTRA_OBJECT_ABI_OLDEST 1u
#define ASTRA_ARITHMETIC_VERSION 1u
#define ASTRA_MODULE_MAGIC 0x31525453412e0a00ull /* "\0\n.ASTR1" */

/* One tensor as an entry or a kernel sees it. Strides count elements and may
 * be zero (broadcast) or negative; data points at the element with all indices
 * zero. A bool is one byte, 0 or 1. Memory is aligned to the element only. */
typedef struct astra_arg {
  void *data;
  const int64_t *shape;
  const int64_t *strides;
  uint32_t dtype;
  uint32_t rank;
} astra_arg_t;

typedef struct astra_call astra_call_t;

/* Outcome of an entry or a kernel: 0, or an ASTRA_ERROR_* of astra.h. */
typedef int32_t astra_outcome_t;

/* A kernel: inputs first, then outputs, as its row in kernels.def says;
 * params are the row's integers (a float parameter is passed as the bits of a
 * double). A kernel never allocates but through the call, never reads outside
 * its views, and its outputs never overlap its inputs unless the row allows.
 * Since version 3 the word before the first parameter says where in the source
 * the call stands, as an index in the module's locations (params may be null
 * where a kernel has none, and then nothing is said). */
typedef astra_outcome_t (*astra_kernel_fn)(const astra_call_t *call,
                                           const astra_arg_t *args,
                                           const int64_t *params);

/* A piece of parallel work over [begin, end). */
typedef void (*astra_range_fn)(void *context, int64_t begin, int64_t end);

/* Services of the runtime, given to entries and kernels with each call. */
typedef struct astra_call_api {
  uint64_t struct_size;
  /* Runs fn over [0, count) in pieces of whole multiples of `grain` (but for
   * the last), on the threads that the stream owns. How the range is cut never
   * changes a result: kernels make their units the canonical chunks. */
  void (*parallel_for)(const astra_call_t *call, int64_t count, int64_t grain,
                       astra_range_fn fn, void *context);
  /* Memory that lives until the entry returns, aligned to 64 bytes. Null when
   * there is none (the error is then recorded already). */
  void *(*workspace)(const astra_call_t *call, int64_t bytes);
  /* Memory for use inside one kernel; returned by scratch_free. */
  void *(*scratch)(const astra_call_t *call, int64_t bytes);
  void (*scratch_free)(const astra_call_t *call, void *memory);
  /* Records an error (the first one counts) and returns its code. `text` is a
   * sentence that names the thing and both values. */
  astra_outcome_t (*fail)(const astra_call_t *call, int32_t code,
                          const char *text);
  /* Adds where in the source the failure happened: an index in the module's
   * locations. Called by the entry when a kernel did not return 0. */
  void (*locate)(const astra_call_t *call, uint32_t location);
  /* debug(x, "name") of the language. */
  void (*debug)(const astra_call_t *call, const char *name,
                const astra_arg_t *value);
  /* fail, with each "{}" of `text` replaced by the next of `count` values. */
  astra_outcome_t (*fail_values)(const astra_call_t *call, int32_t code,
                                 const char *text, const int64_t *values,
                                 uint64_t count);
  /* Since version 2. Tapes: memory that grows while the entry runs, for what
   * the steps of a loop leave to its reverse pass. A tape has entries of one
   * size, numbered from 0, all zero bytes until they are written; what was not
   * closed before is given back when the entry returns, however it does. Only
   * the entry calls these, on its own thread. */
  /* `tape` itself, or a new one if it is null. Null when there is no memory
   * (the error is then recorded already). */
  void *(*tape_open)(const astra_call_t *call, void *tape);
  /* The entry `index`, which stays where it is until the tape is closed, with
   * the alignment of its size. The tape grows where it does not reach it. Every
   * entry of a tape is asked for with the same `bytes`. Null when there is no
   * memory (the error is then recorded already). */
  void *(*tape_entry)(const astra_call_t *call, void *tape, int64_t index,
                      int64_t bytes);
  /* One more than the greatest entry that was asked for; 0 for null. */
  int64_t (*tape_length)(const astra_call_t *call, const void *tape);
  /* Gives the memory of a tape back. With a depth above 1 its entries are
   * addresses of tapes (or null), which are closed with one less. */
  void (*tape_close)(const astra_call_t *call, void *tape, uint32_t depth);
} astra_call_api_t;

/* The context of one call of an entry. Sized, so that it can grow. */
struct astra_call {
  uint64_t struct_size;
  const astra_call_api_t *api;
  void *state;         /* the runtime's own */
  const int64_t *dims; /* the export's dimensions, in descriptor order */
  const astra_kernel_fn *kernels; /* resolved imports, in descriptor order */
};

typedef astra_outcome_t (*astra_entry_fn)(const astra_call_t *call,
                                          const astra_arg_t *in,
                                          astra_arg_t *out);

/* A dimension expression: its text for people, and postfix code over the
 * export's dimensions for the runtime. Arithmetic is 64-bit with overflow an
 * error; division and remainder round down, by zero is an error. */
enum {
  ASTRA_DIM_CONST = 0, /* push the next word */
  ASTRA_DIM_NAME = 1,  /* push dims[next word] */
  ASTRA_DIM_ADD = 2,
  ASTRA_DIM_SUB = 3,
  ASTRA_DIM_MUL = 4,
  ASTRA_DIM_FLOORDIV = 5,
  ASTRA_DIM_MOD = 6
};
typedef struct astra_dim_expr {
  const char *text;
  const int64_t *code;
  uint64_t code_length;
} astra_dim_expr_t;

/* One leaf of a parameter or result: `path` is as written in the program
 * ("m.hidden.w"), for messages and introspection. */
typedef struct astra_leaf_desc {
  const char *path;
  uint32_t dtype;
  uint32_t rank;
  const astra_dim_expr_t *shape;
} astra_leaf_desc_t;

/* A parameter or result as the program wrote it: `type` is its source text
 * ("Mlp", "f32[n, 64]"), `tree` a JSON text of structs, tuples and arrays down
 * to leaves, covering leaf_count leaves from first_leaf on. */
typedef struct astra_value_desc {
  const char *name;
  const char *type;
  const char *tree;
  uint32_t first_leaf;
  uint32_t leaf_count;
} astra_value_desc_t;

typedef struct astra_export_desc {
  const char *name; /* as in the program: "step" */
  const char *doc;  /* doc comment, or "" */
  astra_entry_fn entry;
  uint64_t dim_count;
  const char *const *dim_names;
  uint64_t in_value_count, in_leaf_count;
  const astra_value_desc_t *in_values;
  const astra_leaf_desc_t *in_leaves;
  uint64_t out_value_count, out_leaf_count;
  const astra_value_desc_t *out_values;
  const astra_leaf_desc_t *out_leaves;
  /* Extents that occur inside the function: each is evaluated before the entry
   * runs, and a negative one refuses the call. */
  uint64_t inner_dim_count;
  const astra_dim_expr_t *inner_dims;
  /* Bytes of workspace that the entry asks for, as an expression. */
  astra_dim_expr_t workspace_bytes;
  uint32_t flags; /* ASTRA_EXPORT_* */
  uint32_t reserved;
} astra_export_desc_t;
#define ASTRA_EXPORT_TEST 1u /* a test block: no parameters, no results */
/* Each element of an output depends on those at its own place of dense inputs
 * with its dtype and shape only, and is written after they have been read: an
 * output may lie in the memory of such an input. */
#define ASTRA_EXPORT_IN_PLACE 2u

/* A kernel that the module calls, by name and version. */
typedef struct astra_import_desc {
  const char *name;
  uint32_t version;
  uint32_t reserved;
} astra_import_desc_t;

/* Fused kernels. The module has straight code for elements, the runtime's
 * kernels `fused_*` have the loops, the threads and the order of sums. They are
 * called with the views of a fused kernel and the address of its description as
 * the only parameter.
 *
 * A block computes `count` elements, a multiple of ASTRA_BLOCK_LANES. Operands
 * are the stage's inputs, then its outputs; an output may be exactly an input.
 * Vector i of input k is at data[k] plus (i & masks[k]) elements: a mask is -1,
 * or less where vectors repeat. Elements of an output that is folded join
 * those at data[k] plus (i & masks[k]), by the fold's operation; they are of
 * the type that it is computed in, f32 for f16 and bf16. */
#define ASTRA_BLOCK_LANES 16
typedef void (*astra_block_fn)(void *const *data, const int64_t *masks,
                               int64_t count);

/* The levels that blocks are compiled for, in this order. Code for 64-bit Arm
 * has one level, in both places. */
#define ASTRA_BLOCK_X86_64_V3 0
#define ASTRA_BLOCK_X86_64_V4 1
#define ASTRA_BLOCK_NEON 0
#define ASTRA_BLOCK_LEVELS 2

/* Where the values of a fused kernel are. A row is the elements along the last
 * `row_axes` axes. A fold is written as elements of a row and read as the one
 * value that they give, by docs/arithmetic.md. */
enum {
  ASTRA_SLOT_ARG = 0,    /* a view that the kernel is called with */
  ASTRA_SLOT_ROW = 1,    /* elements of a row, kept between stages */
  ASTRA_SLOT_SCALAR = 2, /* one value a row */
  ASTRA_SLOT_SUM = 3,
  ASTRA_SLOT_PROD = 4,
  ASTRA_SLOT_MAX = 5, /* fails where a row has no elements */
  ASTRA_SLOT_MIN = 6,
  ASTRA_SLOT_TOP = 7 /* the maximum, -inf of no elements */
};
typedef struct astra_slot_desc {
  uint32_t kind;
  uint32_t dtype;
} astra_slot_desc_t;

/* A pass over the elements of a row or, if `per_row`, over one value a row. */
typedef struct astra_stage_desc {
  astra_block_fn code[ASTRA_BLOCK_LEVELS];
  const int64_t *slots; /* of the operands */
  uint32_t input_count, output_count;
  uint32_t per_row;
  uint32_t reserved;
} astra_stage_desc_t;

#define ASTRA_FUSED_MOST_SLOTS 32
typedef struct astra_fused_desc {
  const char *name;   /* "fused_0" */
  const char *ops;    /* what it computes: "mul add tanh" */
  uint32_t arg_count; /* the first slots are the arguments, in their order */
  uint32_t row_axes;
  uint64_t slot_count;
  const astra_slot_desc_t *slots;
  uint64_t stage_count;
  const astra_stage_desc_t *stages;
} astra_fused_desc_t;

/* An output that may lie in the memory of a dense input with its dtype and
 * shape: each element is written after the last time that it is read from the
 * input. Sorted by export, output and input. */
typedef struct astra_donation_desc {
  uint32_t export_index;
  uint32_t output, input; /* leaves */
  uint32_t reserved;
} astra_donation_desc_t;

typedef struct astra_location_desc {
  const char *file; /* as given to the compiler, without folders */
  uint32_t line;
  uint32_t column;
} astra_location_desc_t;

/* Places in the source: indices in the module's locations. */
typedef struct astra_places_desc {
  uint64_t count;
  const int64_t *locations;
} astra_places_desc_t;

typedef struct astra_module_desc {
  uint64_t magic;
  uint32_t struct_size;
  uint32_t object_abi;
  uint32_t arithmetic;
  uint32_t mode; /* 0 strict, 1 device, 2 fast */
  const char *name;
  const char *compiler; /* "astrac 0.1.0" */
  const char *options;
  const char *cpu_levels; /* levels that the code has, "x86-64-v3" */
  uint64_t export_count;
  const astra_export_desc_t *exports;
  uint64_t import_count;
  const astra_import_desc_t *imports;
  uint64_t location_count;
  const astra_location_desc_t *locations;
  /* Since version 3: */
  uint64_t fused_count;
  const astra_fused_desc_t *fused;
  /* Outputs and the inputs whose memory they may take. */
  uint64_t donation_count;
  const astra_donation_desc_t *donations;
  /* Of each fused kernel: where its operations stand. */
  const astra_places_desc_t *fused_places;
  /* Of each export: where it stands. */
  const int64_t *export_places;
} astra_module_desc_t;
#define ASTRA_MODULE_DESC_SIZE_1 offsetof(astra_module_desc_t, fused_count)
#define ASTRA_MODULE_DESC_SIZE_2 ASTRA_MODULE_DESC_SIZE_1

/* A linked object defines `astra_module_<name>`; a loadable module also exports
 * a symbol of the same type under this fixed name, and carries an ELF note
 * (owner "Astra", type 1) with object_abi and arithmetic as two 32-bit words,
 * so that a loader can refuse it before running any of its code. */
#define ASTRA_MODULE_SYMBOL "astra_module"
#define ASTRA_NOTE_OWNER "Astra"
#define ASTRA_NOTE_TYPE 1u

#ifdef __cplusplus
}
#endif
#endif /* ASTRA_MODULE_H */
