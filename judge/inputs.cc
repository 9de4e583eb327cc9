#include "judge/inputs.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "judge/case.h"
#include "judge/salt.h"

namespace rankbox {

namespace {

constexpr int kRankStride = 10000;

// Elements are numbered: rank * kRankStride + i. Under a salt, a random permutation of all numbers
// of 24 bits, which floats hold, follows: a Feistel network of two halves of 12 bits. So no element
// tells another one, and a value still tells which element it is.
constexpr std::uint64_t kHalf = (1 << 12) - 1;
constexpr int kRounds = 6;

struct Permutation {
  explicit Permutation(std::uint64_t tensor) : random(salted("elements").stream(tensor)) {}

  const Random random;

  std::uint64_t round(int number, std::uint64_t half) const {
    return random.at(static_cast<std::uint64_t>(number) << 12 | half) >> 52;
  }
  std::uint64_t operator()(std::uint64_t number) const {
    if (salt() == 0) return number;
    std::uint64_t left = number >> 12, right = number & kHalf;
    for (int i = 0; i < kRounds; ++i) left = std::exchange(right, left ^ round(i, right));
    return left << 12 | right;
  }
  std::uint64_t inverse(std::uint64_t permuted) const {
    if (salt() == 0) return permuted;
    std::uint64_t left = permuted >> 12, right = permuted & kHalf;
    for (int i = kRounds; i-- > 0;) right = std::exchange(left, right ^ round(i, left));
    return left << 12 | right;
  }
};

float permuted_element(const Permutation& permutation, int rank, std::int64_t i) {
  const std::int64_t number = std::int64_t{rank} * kRankStride + i;
  return static_cast<float>(permutation(static_cast<std::uint64_t>(number)) + 1);
}

// Shares under a salt, and in worlds too large for powers of two, are random integers whose sum is
// exact. None is so small that the mean's tolerance could hide it.
constexpr std::int64_t kLeastShare = 1 << 17;
constexpr std::int64_t kMostShare = 1 << 19;
constexpr int kMostPowers = 20;

bool has_random_shares(int world_size) { return salt() != 0 || world_size > kMostPowers; }

float random_share(ReduceOp op, int rank, std::int64_t i, int world_size, std::uint64_t tensor) {
  const std::uint64_t bits = salted("shares")
                                 .stream(tensor)
                                 .stream(static_cast<std::uint64_t>(rank))
                                 .at(static_cast<std::uint64_t>(i));
  const bool has_many_ranks = world_size > kMostExactRanks;
  const int shift = has_many_ranks ? 2 : 0;  // more shares of fewer bits
  const auto number = static_cast<float>(
      (kLeastShare + static_cast<std::int64_t>(bits % (kMostShare - kLeastShare + 1))) >> shift);
  if (op == ReduceOp::MAX) return -number;
  if (op == ReduceOp::AVG) return number / 3;  // the bits of the sum depend on the order
  if (op != ReduceOp::PRODUCT) return number;
  // Products of many stay finite: half of them are less than 1.
  const auto exponent =
      has_many_ranks ? (rank % 2 == 0 ? 1 : -1) : static_cast<int>(bits >> 62) + 1;
  return std::ldexp(bits % 2 == 0 ? 1.0f : -1.0f, exponent);
}

template <class Element>
Tensor filled(std::int64_t count, Element element_at) {
  std::vector<float> host(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) host[static_cast<std::size_t>(i)] = element_at(i);
  return from_host(host);
}

}  // namespace

float element(int rank, std::int64_t i, std::uint64_t tensor) {
  return permuted_element(Permutation(tensor), rank, i);
}

Tensor elements_of(int rank, std::int64_t count, std::uint64_t tensor) {
  const Permutation permutation(tensor);
  return filled(count, [&](std::int64_t i) { return permuted_element(permutation, rank, i); });
}

Tensor shaped(Tensor flat) {
  constexpr int kRows = 2;
  const std::int64_t size = flat.size();
  if (size % kRows != 0 || size <= kRows) return flat;
  return from_host(to_host(flat), {kRows, size / kRows});
}

Tensor poison(std::int64_t count) {
  return full(Shape(count), std::numeric_limits<float>::quiet_NaN());
}

float share(ReduceOp op, int rank, std::int64_t i, int world_size, std::uint64_t tensor) {
  if (has_random_shares(world_size)) return random_share(op, rank, i, world_size, tensor);
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

Tensor shares_of(ReduceOp op, int rank, std::int64_t count, int world_size, std::uint64_t tensor) {
  return filled(count, [&](std::int64_t i) { return share(op, rank, i, world_size, tensor); });
}

std::vector<float> shares_at(ReduceOp op, std::int64_t i, int world_size, std::uint64_t tensor) {
  std::vector<float> shares;
  for (int rank = 0; rank < world_size; ++rank)
    shares.push_back(share(op, rank, i, world_size, tensor));
  return shares;
}

float reduced(ReduceOp op, std::int64_t i, int world_size) {
  return reduce_shares(op, world_size, [&](int rank) { return share(op, rank, i, world_size); });
}

float tolerance(ReduceOp op) { return op == ReduceOp::AVG ? 2e-6f : 0.0f; }

Hint origin_of_element(float value, int world_size, std::uint64_t tensor) {
  if (std::isnan(value)) return {"never-written", "it was never written"};
  // Infinite or huge values are no element, and do not fit an integer.
  if (!(value >= 1 && value <= 0x1p24F) || value != std::floor(value)) return {};
  const std::uint64_t number = Permutation(tensor).inverse(static_cast<std::uint64_t>(value) - 1);
  const std::uint64_t rank = number / kRankStride;
  if (rank >= static_cast<std::uint64_t>(world_size)) return {};
  return {"element-of-a-rank",
          fmt::format("that is element {} of rank {}", number % kRankStride, rank)};
}

}  // namespace rankbox
