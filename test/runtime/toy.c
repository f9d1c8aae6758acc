/* A module written by hand, as astrac would make it: functions small enough to
 * know the results of, and one for each thing that can go wrong. Linked into
 * the tests, and built as loadable modules of several versions.
 */
#include "astra/module.h"
#include <string.h>

#ifndef TOY_OBJECT_ABI
#define TOY_OBJECT_ABI ASTRA_OBJECT_ABI_VERSION
#endif
#ifndef TOY_ARITHMETIC
#define TOY_ARITHMETIC ASTRA_ARITHMETIC_VERSION
#endif
#ifndef TOY_KERNEL
#define TOY_KERNEL "add_f32"
#endif
#ifndef TOY_LEVEL
#define TOY_LEVEL "x86-64-v3"
#endif

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])
#define EXPR(TEXT, ...)                                                        \
  {TEXT, (const int64_t[]){__VA_ARGS__},                                       \
   sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)}
#define N EXPR("n", ASTRA_DIM_NAME, 0)
#define CONSTANT(VALUE) EXPR(#VALUE, ASTRA_DIM_CONST, VALUE)
#define SHAPE(...)                                                             \
  (const astra_dim_expr_t[]) { __VA_ARGS__ }
#define NO_WORKSPACE EXPR("0", ASTRA_DIM_CONST, 0)

static const char *const dimN[] = {"n"};

/* shift(x: f32[n, 4], s: f32) -> (f32[n, 4], i64): x + s in parallel, and n. */
struct shift {
  const astra_arg_t *in;
  astra_arg_t *out;
};
static void shiftRows(void *context, int64_t begin, int64_t end) {
  const struct shift *work = context;
  const astra_arg_t *x = &work->in[0];
  float s = *(const float *)work->in[1].data;
  for (int64_t i = begin; i < end; ++i)
    for (int64_t j = 0; j < 4; ++j)
      ((float *)work->out[0].data)[i * 4 + j] =
          ((const float *)x->data)[i * x->strides[0] + j * x->strides[1]] + s;
}
static astra_outcome_t shift(const astra_call_t *call, const astra_arg_t *in,
                             astra_arg_t *out) {
  struct shift work = {in, out};
  call->api->parallel_for(call, call->dims[0], 1, shiftRows, &work);
  *(int64_t *)out[1].data = call->dims[0];
  return 0;
}
static const astra_leaf_desc_t shiftIn[] = {
    {"x", ASTRA_F32, 2, SHAPE(N, CONSTANT(4))}, {"s", ASTRA_F32, 0, 0}};
static const astra_leaf_desc_t shiftOut[] = {
    {"0", ASTRA_F32, 2, SHAPE(N, CONSTANT(4))}, {"1", ASTRA_I64, 0, 0}};
static const astra_value_desc_t shiftInValues[] = {
    {"x", "f32[n, 4]", "{\"leaf\":0}", 0, 1},
    {"s", "f32", "{\"leaf\":1}", 1, 1}};
static const astra_value_desc_t shiftOutValues[] = {
    {"", "(f32[n, 4], i64)", "{\"tuple\":[{\"leaf\":0},{\"leaf\":1}]}", 0, 2}};

/* add(a: f32[n], b: f32[n]) -> f32[n]: the imported kernel, called at the
 * second of the locations. */
static const int64_t addParams[] = {1};
static astra_outcome_t add(const astra_call_t *call, const astra_arg_t *in,
                           astra_arg_t *out) {
  astra_arg_t args[3];
  args[0] = in[0];
  args[1] = in[1];
  args[2] = out[0];
  return call->kernels[0](call, args, addParams + 1);
}
static const astra_leaf_desc_t addIn[] = {{"a", ASTRA_F32, 1, SHAPE(N)},
                                          {"b", ASTRA_F32, 1, SHAPE(N)}};
static const astra_leaf_desc_t oneN[] = {{"0", ASTRA_F32, 1, SHAPE(N)}};

/* grow(a: f32[n], b: f32[2*n + 1]) -> f32[n - 3], with an inner extent n - 2:
 * fills the result with n, through workspace and scratch. */
static astra_outcome_t grow(const astra_call_t *call, const astra_arg_t *in,
                            astra_arg_t *out) {
  int64_t count = out[0].shape[0];
  float *work = call->api->workspace(call, count * 4);
  float *scratch = call->api->scratch(call, 4);
  (void)in;
  if (!work || !scratch) {
    call->api->scratch_free(call, scratch);
    return 4;
  }
  *scratch = (float)call->dims[0];
  for (int64_t i = 0; i < count; ++i)
    work[i] = *scratch;
  memcpy(out[0].data, work, (size_t)count * 4);
  call->api->scratch_free(call, scratch);
  call->api->debug(call, "b", &in[1]);
  return 0;
}
static const astra_leaf_desc_t growIn[] = {
    {"a", ASTRA_F32, 1, SHAPE(N)},
    {"b", ASTRA_F32, 1,
     SHAPE(EXPR("2*n + 1", ASTRA_DIM_CONST, 2, ASTRA_DIM_NAME, 0, ASTRA_DIM_MUL,
                ASTRA_DIM_CONST, 1, ASTRA_DIM_ADD))}};
#define N_MINUS(TEXT, VALUE)                                                   \
  EXPR(TEXT, ASTRA_DIM_NAME, 0, ASTRA_DIM_CONST, VALUE, ASTRA_DIM_SUB)
static const astra_leaf_desc_t growOut[] = {
    {"0", ASTRA_F32, 1, SHAPE(N_MINUS("n - 3", 3))}};
static const astra_dim_expr_t growInner[] = {N_MINUS("n - 2", 2)};

/* halves(x: f32[2*n]) -> f32[n]: a dimension that stands nowhere alone. */
static astra_outcome_t halves(const astra_call_t *call, const astra_arg_t *in,
                              astra_arg_t *out) {
  (void)call;
  for (int64_t i = 0; i < out[0].shape[0]; ++i)
    ((float *)out[0].data)[i] =
        ((const float *)in[0].data)[2 * i * in[0].strides[0]];
  return 0;
}
static const astra_leaf_desc_t halvesIn[] = {
    {"x", ASTRA_F32, 1,
     SHAPE(EXPR("2*n", ASTRA_DIM_CONST, 2, ASTRA_DIM_NAME, 0, ASTRA_DIM_MUL))}};

/* divide(x: i32[n]) -> i32[n]: fails, as a kernel that divides by zero does. */
static astra_outcome_t divide(const astra_call_t *call, const astra_arg_t *in,
                              astra_arg_t *out) {
  (void)in;
  (void)out;
  call->api->fail(call, 7, "division of 3 by 0 at element 1");
  call->api->fail(call, 6, "this is not the first error");
  call->api->locate(call, 1);
  return 7;
}
static const astra_leaf_desc_t intN[] = {{"x", ASTRA_I32, 1, SHAPE(N)}};

/* mute(b: bool) -> bool: fails without saying why. */
static astra_outcome_t mute(const astra_call_t *call, const astra_arg_t *in,
                            astra_arg_t *out) {
  (void)call;
  (void)in;
  (void)out;
  return 6;
}
static const astra_leaf_desc_t boolScalar[] = {{"b", ASTRA_BOOL, 0, 0}};

/* rounding() -> (i32, f32): whether a sum was rounded up, and the smallest
 * normal number halved, which is 0 if denormals are flushed. */
static astra_outcome_t rounding(const astra_call_t *call, const astra_arg_t *in,
                                astra_arg_t *out) {
  volatile float smallest = 1.17549435e-38f, one = 1.0f, tiny = 1e-20f;
  (void)call;
  (void)in;
  *(int32_t *)out[0].data = one + tiny > 1.0f;
  *(float *)out[1].data = smallest * 0.5f;
  return 0;
}
static const astra_leaf_desc_t roundingOut[] = {{"0", ASTRA_I32, 0, 0},
                                                {"1", ASTRA_F32, 0, 0}};

/* twice(x: f32[n]) -> f32[n]: may write into the memory of x; needs it dense.
 */
static astra_outcome_t twice(const astra_call_t *call, const astra_arg_t *in,
                             astra_arg_t *out) {
  (void)call;
  for (int64_t i = 0; i < out[0].shape[0]; ++i)
    ((float *)out[0].data)[i] =
        2 * ((const float *)in[0].data)[i * in[0].strides[0]];
  return 0;
}
static const astra_leaf_desc_t floatN[] = {{"x", ASTRA_F32, 1, SHAPE(N)}};

static astra_outcome_t passes(const astra_call_t *call, const astra_arg_t *in,
                              astra_arg_t *out) {
  (void)call;
  (void)in;
  (void)out;
  return 0;
}
static astra_outcome_t fails(const astra_call_t *call, const astra_arg_t *in,
                             astra_arg_t *out) {
  (void)in;
  (void)out;
  call->api->locate(call, 0);
  return call->api->fail(call, 8, "the assertion 1 == 2 failed");
}

static const astra_export_desc_t exports[] = {
    {"shift", "Adds s.", shift, 1, dimN, 2, 2, shiftInValues, shiftIn, 1, 2,
     shiftOutValues, shiftOut, 0, 0, NO_WORKSPACE, 0, 0},
    {"add", "", add, 1, dimN, 0, 2, 0, addIn, 0, 1, 0, oneN, 0, 0, NO_WORKSPACE,
     0, 0},
    {"grow", "", grow, 1, dimN, 0, 2, 0, growIn, 0, 1, 0, growOut, 1, growInner,
     EXPR("4*n", ASTRA_DIM_CONST, 4, ASTRA_DIM_NAME, 0, ASTRA_DIM_MUL), 0, 0},
    {"halves", "", halves, 1, dimN, 0, 1, 0, halvesIn, 0, 1, 0, oneN, 0, 0,
     NO_WORKSPACE, 0, 0},
    {"divide", "", divide, 1, dimN, 0, 1, 0, intN, 0, 1, 0, intN, 0, 0,
     NO_WORKSPACE, 0, 0},
    {"mute", "", mute, 0, 0, 0, 1, 0, boolScalar, 0, 1, 0, boolScalar, 0, 0,
     NO_WORKSPACE, 0, 0},
    {"rounding", "", rounding, 0, 0, 0, 0, 0, 0, 0, 2, 0, roundingOut, 0, 0,
     NO_WORKSPACE, 0, 0},
    {"passes", "", passes, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NO_WORKSPACE,
     ASTRA_EXPORT_TEST, 0},
    {"fails", "", fails, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NO_WORKSPACE,
     ASTRA_EXPORT_TEST, 0},
    {"twice", "", twice, 1, dimN, 0, 1, 0, floatN, 0, 1, 0, oneN, 0, 0,
     NO_WORKSPACE, ASTRA_EXPORT_IN_PLACE, 0},
};
static const astra_import_desc_t imports[] = {
    {TOY_KERNEL, 1, 0},
#ifdef TOY_SECOND_KERNEL
    {TOY_SECOND_KERNEL, 7, 0},
#endif
};
static const astra_location_desc_t locations[] = {{"toy.astra", 4, 2},
                                                  {"toy.astra", 12, 3}};
static const int64_t exportPlaces[COUNT(exports)] = {0, 1};

static const astra_donation_desc_t donations[] = {{1, 0, 1, 0}}; /* add */

#define TOY_DESCRIPTOR                                                         \
  {ASTRA_MODULE_MAGIC,                                                         \
   sizeof(astra_module_desc_t),                                                \
   TOY_OBJECT_ABI,                                                             \
   TOY_ARITHMETIC,                                                             \
   0,                                                                          \
   "toy",                                                                      \
   "by hand",                                                                  \
   "-O2",                                                                      \
   TOY_LEVEL,                                                                  \
   COUNT(exports),                                                             \
   exports,                                                                    \
   COUNT(imports),                                                             \
   imports,                                                                    \
   COUNT(locations),                                                           \
   locations,                                                                  \
   0,                                                                          \
   NULL,                                                                       \
   COUNT(donations),                                                           \
   donations,                                                                  \
   NULL,                                                                       \
   exportPlaces}

#ifdef TOY_LOADABLE
const astra_module_desc_t astra_module = TOY_DESCRIPTOR;
#ifndef TOY_NO_NOTE
struct note {
  uint32_t name_size, contents_size, type;
  char name[8];
  uint32_t object_abi, arithmetic;
};
static const struct note note
    __attribute__((section(".note.astra"), used, aligned(4))) = {
        sizeof ASTRA_NOTE_OWNER, 8,
        ASTRA_NOTE_TYPE,         ASTRA_NOTE_OWNER,
        TOY_OBJECT_ABI,          TOY_ARITHMETIC};
#endif
#else
extern const astra_module_desc_t astra_module_toy;
const astra_module_desc_t astra_module_toy = TOY_DESCRIPTOR;
#endif
