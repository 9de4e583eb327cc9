// The values that parameters start with.
#pragma once

#include "comm/tensor.h"
#include "training/random.h"

namespace rankbox {

/// Uniform in [-bound, bound): element i is the i-th number that `random` draws.
template <class T>
TensorOf<T> random_tensor(Shape shape, double bound, Random random);

}  // namespace rankbox
