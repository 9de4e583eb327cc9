#include "verdict/inputs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

namespace rankbox {

namespace {

constexpr int kRankStride = 10000;

template <class Element>
Tensor filled(std::int64_t count, Element element_at) {
  std::vector<float> host(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) host[static_cast<std::size_t>(i)] = element_at(i);
  return from_host(host);
}

}  // namespace

float element(int rank, std::int64_t i) {
  return static_cast<float>(std::int64_t{rank} * kRankStride + i + 1);
}

Tensor elements_of(int rank, std::int64_t count) {
  return filled(count, [&](std::int64_t i) { return element(rank, i); });
}

Tensor poison(std::int64_t count) {
  return full(Shape(count), std::numeric_limits<float>::quiet_NaN());
}

float share(ReduceOp op, int rank, std::int64_t i, int world_size) {
  const int weight = static_cast<int>(i % 7) + 1;
  const int turn = static_cast<int>((rank + i) % world_size);
  switch (op) {
    case ReduceOp::SUM:
    case ReduceOp::AVG:
      return std::ldexp(static_cast<float>(weight), rank);
    case ReduceOp::PRODUCT:
      return std::ldexp((rank + i) % 3 == 0 ? -1.0f : 1.0f, static_cast<int>((rank + i) % 4) + 1);
    case ReduceOp::MAX:
      return static_cast<float>(-weight - turn);
    case ReduceOp::MIN:
      return static_cast<float>(weight + turn);
  }
  return 0;
}

Tensor shares_of(ReduceOp op, int rank, std::int64_t count, int world_size) {
  return filled(count, [&](std::int64_t i) { return share(op, rank, i, world_size); });
}

float reduced(ReduceOp op, std::int64_t i, int world_size) {
  double result = share(op, 0, i, world_size);
  for (int rank = 1; rank < world_size; ++rank) {
    const double next = share(op, rank, i, world_size);
    switch (op) {
      case ReduceOp::SUM:
      case ReduceOp::AVG:
        result += next;
        break;
      case ReduceOp::PRODUCT:
        result *= next;
        break;
      case ReduceOp::MAX:
        result = std::max(result, next);
        break;
      case ReduceOp::MIN:
        result = std::min(result, next);
        break;
    }
  }
  return static_cast<float>(op == ReduceOp::AVG ? result / world_size : result);
}

float tolerance(ReduceOp op) { return op == ReduceOp::AVG ? 2e-6f : 0.0f; }

std::string origin_of_element(float value, int world_size) {
  if (std::isnan(value)) return "it was never written";
  const double code = static_cast<double>(value) - 1;
  // Infinite or huge values are no element, and do not fit an integer.
  const bool in_range = code >= 0 && code < double{kRankStride} * world_size;
  if (!in_range || code != std::floor(code)) return "";
  const auto whole = static_cast<std::int64_t>(code);
  return fmt::format("that is element {} of rank {}", whole % kRankStride, whole / kRankStride);
}

std::string origin_of_reduction(ReduceOp op, float value, std::int64_t i, int world_size) {
  if (std::isnan(value)) return "it was never written, or a buffer was added before it was filled";
  // Every result of MAX and MIN is one rank's share.
  const bool adds_up = op != ReduceOp::MAX && op != ReduceOp::MIN;
  for (int rank = 0; rank < world_size && adds_up && world_size > 1; ++rank) {
    if (value == share(op, rank, i, world_size)) {
      return fmt::format("that is the share of rank {} alone: was the reduction lost?", rank);
    }
  }
  if (op == ReduceOp::AVG && value == reduced(ReduceOp::SUM, i, world_size)) {
    return "that is the sum: AVG divides it by world_size at the very end";
  }
  if (op != ReduceOp::SUM) return "";
  const float sum = reduced(op, i, world_size);
  for (int rank = 0; rank < world_size; ++rank) {
    if (value == sum - share(op, rank, i, world_size)) {
      return fmt::format("the share of rank {} is missing", rank);
    }
    if (value == sum + share(op, rank, i, world_size)) {
      return fmt::format("the share of rank {} was added twice", rank);
    }
  }
  return "";
}

}  // namespace rankbox
