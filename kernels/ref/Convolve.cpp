// The normative convolution: the product over x set out with zeros.
#include "kernels/Convolution.h"

using namespace astra;

extern "C" {
astra_outcome_t ASTRA_REF_NAME(set_out, b32)(const astra_call_t *,
                                             const astra_arg_t *,
                                             const int64_t *);
astra_outcome_t ASTRA_REF_NAME(contract, f32)(const astra_call_t *,
                                              const astra_arg_t *,
                                              const int64_t *);
}

ASTRA_DEFINE_REF(conv, f32,
                 convolveWhole<float>(call, Convolution(args, params[0]),
                                      ASTRA_REF_NAME(set_out, b32),
                                      ASTRA_REF_NAME(contract, f32)))
