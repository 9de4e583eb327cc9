// Inputs of collectives, and their expected results.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "comm/reduce_op.h"

namespace rankbox::testing {

/// Returns element i of rank r's input: exact under every operation for up to 17 ranks, and
/// different on every rank.
template <class T>
T input(ReduceOp op, std::int64_t rank, std::int64_t i) {
  if (op == ReduceOp::PRODUCT) return static_cast<T>((rank + i) % 3 == 0 ? -2 : 1);
  return static_cast<T>((rank * 7 + i * 3) % 23 - 11);
}

template <class T>
std::vector<T> inputs(ReduceOp op, std::int64_t rank, std::int64_t count) {
  std::vector<T> made;
  for (std::int64_t i = 0; i < count; ++i) made.push_back(input<T>(op, rank, i));
  return made;
}

/// Returns element i of the reduction over all ranks.
template <class T>
T reduced(ReduceOp op, std::int64_t world_size, std::int64_t i) {
  T result = input<T>(op, 0, i);
  for (std::int64_t rank = 1; rank < world_size; ++rank) {
    const T next = input<T>(op, rank, i);
    if (op == ReduceOp::SUM || op == ReduceOp::AVG) result += next;
    if (op == ReduceOp::PRODUCT) result *= next;
    if (op == ReduceOp::MAX) result = std::max(result, next);
    if (op == ReduceOp::MIN) result = std::min(result, next);
  }
  return op == ReduceOp::AVG ? result / static_cast<T>(world_size) : result;
}

template <class T>
std::vector<T> reductions(ReduceOp op, std::int64_t world_size, std::int64_t begin,
                          std::int64_t end) {
  std::vector<T> made;
  for (std::int64_t i = begin; i < end; ++i) made.push_back(reduced<T>(op, world_size, i));
  return made;
}

/// Returns all ranks' inputs in rank order.
template <class T>
std::vector<T> concatenated(std::int64_t world_size, std::int64_t count) {
  std::vector<T> made;
  for (std::int64_t rank = 0; rank < world_size; ++rank) {
    const std::vector<T> part = inputs<T>(ReduceOp::SUM, rank, count);
    made.insert(made.end(), part.begin(), part.end());
  }
  return made;
}

}  // namespace rankbox::testing
