#include "judge/sharding/clip_calls.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "judge/salt.h"
#include "judge/training/parameters.h"
#include "parallel/shard.h"

namespace rankbox {

namespace {

constexpr std::size_t kMany = 9;  // gradients of a list, in small cases
constexpr double kUnlimited = std::numeric_limits<double>::infinity();

/// Returns how far max_norm is from the usual one. Drawn for each call and norm: else max_norm
/// would tell the norm.
double part_of_ratio(const ClipCall& call, std::int64_t count, int world_size) {
  if (salt() == 0 || std::isinf(call.ratio)) return 1;
  return salted("ratio")
      .stream(call.what)
      .stream(static_cast<std::uint64_t>(count))
      .stream(static_cast<std::uint64_t>(world_size))
      .uniform(0.7, 1.05);
}

/// Returns element i of gradient k: 0.5 to 5.5, of either sign.
double element_of(const Random& random, std::size_t k, std::int64_t i) {
  if (salt() == 0)
    return static_cast<double>((7 * i + 5 * static_cast<std::int64_t>(k)) % 11) - 5.5;
  const double number = 10 * random.uniform_at(static_cast<std::uint64_t>(i)) - 5;
  return number < 0 ? number - 0.5 : number + 0.5;
}

/// Returns elements [begin, end) of gradient k, times the call's size. Pads with zeros.
Gradient elements_of(const ClipCall& call, std::size_t k, std::int64_t begin, std::int64_t end,
                     std::int64_t padded) {
  const Random random = salted(call.what).stream(k);
  Gradient elements(static_cast<std::size_t>(padded));
  for (std::int64_t i = begin; i < end; ++i) {
    elements[static_cast<std::size_t>(i - begin)] =
        static_cast<float>(element_of(random, k, i) * call.size);
  }
  return elements;
}

double squares_of(const std::vector<Gradient>& gradients) {
  double sum = 0;
  for (const Gradient& gradient : gradients) {
    for (const float element : gradient) sum += double{element} * double{element};
  }
  return sum;
}

}  // namespace

const std::vector<ClipCall>& clip_calls() {
  static const std::vector<ClipCall> all = {
      {"the norm exceeds max_norm", 1, 0.5},
      {"the norm is below max_norm", 1, 2},
      {"gradients of 1e20", 1e20, 0.5},
      {"one rank has an infinite gradient", 1, 0.5, ClipSpecial::kInfiniteShard},
      {"only the other ranks have shards, and no gradient is replicated", 1, 0.5,
       ClipSpecial::kNoReplicas},
      {"all gradients are replicated", 1, 0.5, ClipSpecial::kNoShards},
      {"gradients of 1e-7", 1e-7, 0.9},
      {"all gradients are zero", 0, 0.5},
      {"one rank has a NaN", 1, 0.5, ClipSpecial::kNanShard},
      {"a replicated gradient is infinite", 1, 0.5, ClipSpecial::kInfiniteReplica},
      {"max_norm is infinite", 1, kUnlimited},
      {"max_norm is 0", 1, 0},
      {"gradients of 1e-30", 1e-30, 0.5},
      {"gradients near the largest float", 6e37, 0.01},
  };
  return all;
}

std::vector<Gradient> shards_of(const ClipCall& call, std::int64_t count, int rank,
                                int world_size) {
  using enum ClipSpecial;
  if (call.special == kNoShards) return {};
  if (call.special == kNoReplicas && rank == world_size - 1) return {};
  std::vector<Gradient> shards;
  std::vector<std::int64_t> sizes = parameter_sizes(count);
  if (count < 10) sizes.resize(kMany, 2);
  for (const std::int64_t size : sizes) {
    const std::int64_t each = shard_size(size, world_size);
    const std::int64_t end = std::min(size, (rank + 1) * each);
    shards.push_back(elements_of(call, shards.size(), rank * each, end, each));
  }
  const bool is_odd = call.special == kInfiniteShard || call.special == kNanShard;
  if (is_odd && rank == world_size / 2) {
    shards[1].front() = call.special == kNanShard ? std::numeric_limits<float>::quiet_NaN()
                                                  : -std::numeric_limits<float>::infinity();
  }
  return shards;
}

std::vector<Gradient> replicas_of(const ClipCall& call, std::int64_t count) {
  using enum ClipSpecial;
  if (call.special == kNoReplicas) return {};
  std::vector<Gradient> replicas;
  for (const std::int64_t size : {std::int64_t{3}, count})
    replicas.push_back(elements_of(call, 3 + replicas.size(), 0, size, size));
  if (call.special == kInfiniteReplica)
    replicas.front().back() = std::numeric_limits<float>::infinity();
  return replicas;
}

Clipped::Clipped(const ClipCall& call, std::int64_t count, int world_size)
    : replicated(squares_of(replicas_of(call, count))) {
  for (int rank = 0; rank < world_size; ++rank)
    sharded.push_back(squares_of(shards_of(call, count, rank, world_size)));
  for (const double each : sharded) total += each;
  norm = std::sqrt(total + replicated);
  const double ratio = call.ratio * part_of_ratio(call, count, world_size);
  max_norm = std::isfinite(norm) && norm > 0 ? static_cast<float>(norm * ratio)
                                             : static_cast<float>(call.size);
  factor = std::isfinite(norm) ? std::min(1.0, double{max_norm} / (norm + 1e-6)) : 1;
}

}  // namespace rankbox
