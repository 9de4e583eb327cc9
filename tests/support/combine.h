// The plain definition of a reduction of two elements, as an oracle for tests.
#pragma once

#include <algorithm>

#include "comm/reduce_op.h"

namespace rankbox {

/// AVG adds: the caller divides at the end.
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
