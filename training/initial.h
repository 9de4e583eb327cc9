// The values that parameters start with.
#pragma once

#include "comm/tensor.h"
#include "training/random.h"

namespace rankbox {

/// Uniform in [-bound, bound).
template <class T>
TensorOf<T> random_tensor(Shape shape, double bound, Random random) {
  TensorOf<T> made(std::move(shape));
  T* const x = made.data();
  for (std::int64_t i = 0; i < made.size(); ++i)
    x[i] = static_cast<T>(random.uniform(-bound, bound));
  return made;
}

}  // namespace rankbox
