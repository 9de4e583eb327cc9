// What a reduction does with two elements, as plainly as it can be said: what tests compare with.
#pragma once

#include <algorithm>

#include "comm/reduce_op.h"

namespace rankbox {

/// AVG adds: who uses it divides at the end.
template <class T>
T combine(T a, T b, ReduceOp op) {
  switch (op) {
    case ReduceOp::SUM:
    case ReduceOp::AVG:
      return static_cast<T>(a + b);
    case ReduceOp::PRODUCT:
      return static_cast<T>(a * b);
    case ReduceOp::MAX:
      return std::max(a, b);
    case ReduceOp::MIN:
      return std::min(a, b);
  }
  return T{};
}

}  // namespace rankbox
