// What the rules of attention share with those who build it.
#ifndef ASTRA_DIALECT_ATTENTION_H
#define ASTRA_DIALECT_ATTENTION_H

#include "dialect/AstraTypes.h"

namespace astra {

/// The type of the row statistic for queries of this type.
TensorType getAttentionStatistic(TensorType q);

} // namespace astra
#endif // ASTRA_DIALECT_ATTENTION_H
