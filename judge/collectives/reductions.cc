#include "judge/collectives/reductions.h"

#include <cmath>
#include <limits>
#include <vector>

#include "judge/compare.h"
#include "judge/inputs.h"
#include "judge/origin_of_reduction.h"

namespace rankbox {

namespace {

constexpr int kPeriod = 32;
constexpr int kSmallest = 21;
constexpr int kInfinite = 22;
constexpr int kLargest = 23;

constexpr int kSmallestExponent = -149;
constexpr int kExponentOfLargest = 104;  // sums of shares have up to 24 bits
constexpr float kInfinity = std::numeric_limits<float>::infinity();

bool is_extremum(ReduceOp op) { return op == ReduceOp::MAX || op == ReduceOp::MIN; }

/// Returns a rank's number of the smallest floats, of which p divides the sum. Equal numbers have
/// exact averages of averages, too; others have not.
std::int64_t units(int rank, std::int64_t i, int world_size, bool are_equal) {
  const std::int64_t turn = i / kPeriod;
  if (are_equal || turn % 2 == 0) return 1 + 2 * (turn % 4);
  const auto any = [&](int of) { return 1 + (of * of + of + turn) % 5; };
  if (rank > 0) return any(rank);
  std::int64_t others = 0;
  for (int other = 1; other < world_size; ++other) others += any(other);
  return world_size - others % world_size;
}

float smallest(ReduceOp op, int rank, std::int64_t i, int world_size, bool are_equal) {
  if (op == ReduceOp::AVG) {
    return std::ldexp(static_cast<float>(units(rank, i, world_size, are_equal)), kSmallestExponent);
  }
  const float number = share(op, rank, i, world_size);
  if (op != ReduceOp::PRODUCT) return std::ldexp(number, kSmallestExponent);
  // Times the others, which are powers of two, and at least 1 in worlds of up to 24 ranks. (Far
  // cases have no PRODUCT: its result would depend on the order there.)
  return rank == i % world_size ? std::ldexp(3.0F, kSmallestExponent) : number;
}

float share_or_end(const Case& example, int rank, std::int64_t i) {
  const ReduceOp op = *example.op;
  const int world_size = example.world_size;
  const auto place = i % kPeriod;
  if (place == kSmallest) {
    // The average of the nodes' averages is one, too, where nodes have as many ranks.
    return smallest(op, rank, i, world_size, example.nodes.has_value());
  }
  const float number = share(op, rank, i, world_size);
  if (place == kInfinite && is_extremum(op)) return op == ReduceOp::MAX ? -kInfinity : kInfinity;
  if (place == kInfinite && rank == i % world_size) return kInfinity;
  if (place == kLargest && (op == ReduceOp::SUM || op == ReduceOp::AVG))
    return std::ldexp(number, kExponentOfLargest);
  return number;
}

Hint origin_of(const Case& example, float value, std::int64_t i) {
  const ReduceOp op = *example.op;
  const auto place = i % kPeriod;
  const bool is_end = place == kSmallest || place == kInfinite || place == kLargest;
  if (!is_end || std::isnan(value)) {
    std::vector<float> shares;
    for (int rank = 0; rank < example.world_size; ++rank)
      shares.push_back(share_or_end(example, rank, i));
    return origin_of_reduction(op, value, shares);
  }
  if (place == kSmallest && op == ReduceOp::AVG)
    return {"divided-before-added",
            "each share by itself is rounded when it is divided: divide the sum, once, at the very "
            "end"};
  if (place == kSmallest && value == 0)
    return {"small-numbers-are-lost", "numbers below 1.2e-38 count, too"};
  if (place == kInfinite && is_extremum(op))
    return {"starts-from-a-number",
            "all ranks have this number here: start from a rank's own element, not from a number"};
  return {};
}

}  // namespace

Tensor reduction_input(const Case& example, int rank) {
  std::vector<float> host;
  host.reserve(static_cast<std::size_t>(*example.count));
  for (std::int64_t i = 0; i < *example.count; ++i) host.push_back(share_or_end(example, rank, i));
  return shaped(from_host(host));
}

std::optional<Difference> compare_reduction(const std::string& what, const Tensor& actual,
                                            std::int64_t begin, const Shape& shape,
                                            const Case& example) {
  if (auto difference = compare_shape(what, actual.shape(), shape)) return difference;
  const int world_size = example.world_size;
  // All ranks together would take time quadratic in their number.
  if (world_size > kMostRanksOfShares) return std::nullopt;
  const ReduceOp op = *example.op;
  const auto expected = [&](std::int64_t i) {
    return reduce_shares(op, world_size,
                         [&](int rank) { return share_or_end(example, rank, begin + i); });
  };
  return compare(
      what, actual, shape.elements(), expected,
      [&](float is, std::int64_t i) { return origin_of(example, is, begin + i); }, tolerance(op));
}

}  // namespace rankbox
