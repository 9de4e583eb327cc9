// Factors of a product, rounded to 16 bits for tensor cores (compute/autocast.h).
#pragma once

#include <cstdint>

#include "compute/matrix.h"

namespace rankbox::gpu {

/// Returns the first `count` of these matrices with elements of type T: Float16 or BFloat16. They
/// are in `memory`, each line (a row; transposed, a column) at a multiple of 16 bytes, as tensor
/// cores require.
///
/// Cost: one sweep; enqueued. Thread safety, errors: as for_each; OutOfMemory.
template <class T>
MatricesOf<const T> round_factors(std::int64_t count, const MatricesOf<const float>& from,
                                  TensorOf<T>& memory);

}  // namespace rankbox::gpu
