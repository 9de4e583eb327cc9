#include "cli/compare/plan/buffers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "cli/compare/plan/algorithms.h"

namespace rankbox::cli {
namespace {

using enum CollectiveKind;

// Element i of a rank's input depends only on (i + rank) mod kPeriod. The expected reduction is
// then computed once per remainder instead of once per element and rank. kPeriod is prime, so that
// a misplaced piece shows for any size.
constexpr int kPeriod = 251;

// Only this many ranks contribute factors other than 1, so that products of many ranks stay finite.
constexpr int kMultiplyingRanks = 32;

/// Returns 32 pseudo-random bits: splitmix64 with a fixed seed.
constexpr std::uint32_t random_bits(int number) {
  std::uint64_t bits = 0x9e3779b97f4a7c15 * (static_cast<std::uint64_t>(number) + 1);
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
  return static_cast<std::uint32_t>((bits ^ bits >> 31) >> 32);
}

/// Returns how many random bits an input has: the sum of all ranks is at most 2^24, so float32
/// represents every partial sum exactly.
int random_width(int world_size) {
  return 24 - static_cast<int>(std::bit_width(static_cast<unsigned>(world_size) - 1));
}

float input_value(std::int64_t index, int rank, int world_size, ReduceOp op) {
  const std::uint32_t bits = random_bits(static_cast<int>((index + rank) % kPeriod));
  if (op == ReduceOp::PRODUCT) {
    return rank < kMultiplyingRanks && bits % 5 == 0 ? 2.0f : 1.0f;
  }
  return static_cast<float>(1 + (bits >> (32 - random_width(world_size))));
}

// Ranks that are a period apart have equal inputs.
int distinct_ranks(int world_size) { return std::min(world_size, kPeriod); }

double sum_at(std::int64_t index, int world_size) {
  double sum = 0;
  for (int rank = 0; rank < distinct_ranks(world_size); ++rank) {
    const int alike = (world_size - 1 - rank) / kPeriod + 1;
    sum += alike * static_cast<double>(input_value(index, rank, world_size, ReduceOp::SUM));
  }
  return sum;
}

template <class Combine>
double folded_at(std::int64_t index, int world_size, ReduceOp op, Combine combine) {
  float result = input_value(index, 0, world_size, op);
  for (int rank = 1; rank < distinct_ranks(world_size); ++rank) {
    result = combine(result, input_value(index, rank, world_size, op));
  }
  return static_cast<double>(result);
}

double reduced_value(std::int64_t index, int world_size, ReduceOp op) {
  switch (op) {
    case ReduceOp::SUM:
      return sum_at(index, world_size);
    case ReduceOp::AVG:
      return sum_at(index, world_size) / world_size;
    case ReduceOp::PRODUCT:
      return folded_at(index, world_size, op, [](float a, float b) { return a * b; });
    case ReduceOp::MAX:
      return folded_at(index, world_size, op, [](float a, float b) { return std::max(a, b); });
    case ReduceOp::MIN:
      return folded_at(index, world_size, op, [](float a, float b) { return std::min(a, b); });
  }
  return 0;
}

/// Returns where the chunk of `rank` begins in the whole tensor of `elements`.
std::int64_t chunk_begin(std::int64_t elements, int rank, int world_size) {
  return elements * rank / world_size;
}

/// The expected values at indices that are 0, 1, … mod kPeriod, and their tolerances.
struct Pattern {
  std::array<float, kPeriod> values{};
  std::array<float, kPeriod> slack{};  // tolerances; 0: exact
};

Pattern input_of(int rank, int world_size) {
  Pattern pattern;
  for (int phase = 0; phase < kPeriod; ++phase) {
    pattern.values[static_cast<std::size_t>(phase)] =
        input_value(phase, rank, world_size, ReduceOp::SUM);
  }
  return pattern;
}

Pattern reduction_of(int world_size, ReduceOp op) {
  Pattern pattern;
  for (int phase = 0; phase < kPeriod; ++phase) {
    const double value = reduced_value(phase, world_size, op);
    pattern.values[static_cast<std::size_t>(phase)] = static_cast<float>(value);
    if (op == ReduceOp::AVG) {
      // Some libraries multiply every rank's input by 1/p before they add: one rounding per rank,
      // one per addition, and that of 1/p.
      constexpr double kRounding = 0x1p-24;
      pattern.slack[static_cast<std::size_t>(phase)] =
          static_cast<float>(value * kRounding * (world_size + 2));
    }
  }
  return pattern;
}

// Elements per copy from a device to the host. A multiple of the period.
constexpr std::int64_t kStaged = kPeriod * std::int64_t{4096};

/// @param begin the index of the slice's first element, which sets the pattern's phase
std::int64_t count_unlike(Slice result, std::int64_t begin, const Pattern& pattern) {
  std::vector<float> staged(static_cast<std::size_t>(std::min(result.size(), kStaged)));
  std::int64_t wrong = 0;
  auto phase = static_cast<std::size_t>(begin % kPeriod);
  for (std::int64_t at = 0; at < result.size(); at += kStaged) {
    const std::int64_t end = std::min(at + kStaged, result.size());
    detail::copy_to_host(staged.data(), result.sub(at, end));
    for (std::size_t i = 0; i < static_cast<std::size_t>(end - at); ++i) {
      // Written so that NaN counts as wrong.
      wrong += std::abs(staged[i] - pattern.values[phase]) <= pattern.slack[phase] ? 0 : 1;
      phase = phase + 1 == kPeriod ? 0 : phase + 1;
    }
  }
  return wrong;
}

/// Checks a slice of one piece of every rank, in rank order: elements begin, begin+1, … of its
/// input.
std::int64_t count_unlike_pieces(Slice gathered, int world_size, std::int64_t begin) {
  const std::int64_t piece = gathered.size() / world_size;
  std::int64_t wrong = 0;
  for (int rank = 0; rank < world_size; ++rank) {
    wrong += count_unlike(gathered.sub(rank * piece, (rank + 1) * piece), begin,
                          input_of(rank, world_size));
  }
  return wrong;
}

}  // namespace

std::int64_t elements_of(CollectiveKind collective, int world_size, std::int64_t bytes) {
  const std::int64_t elements = bytes / size_of(Tensor::dtype());
  if (collective == kBarrier) return 0;
  if (is_in_place(collective)) return std::max(elements, std::int64_t{1});
  return std::max(elements / world_size, std::int64_t{1}) * world_size;
}

Buffers make_buffers(const RankPart& part) {
  const auto [collective, rank, world_size, elements, op, root] = part;
  const std::int64_t piece = elements / world_size;
  const std::int64_t my_chunk =
      chunk_begin(elements, rank + 1, world_size) - chunk_begin(elements, rank, world_size);
  switch (collective) {
    case kBarrier:
      return {};
    case kGather:
      return {zeros({piece}), rank == root ? zeros({elements}) : Tensor()};
    case kAllGather:
      return {zeros({piece}), zeros({elements})};
    case kScatter:
      return {rank == root ? zeros({elements}) : Tensor(), zeros({piece})};
    case kReduceScatter:
      return {zeros({elements}), zeros({my_chunk})};
    case kAllToAll:
      return {zeros({elements}), zeros({world_size * my_chunk})};
    default:
      return {zeros({elements}), Tensor()};
  }
}

void fill_input(Buffers& buffers, const RankPart& part) {
  const ReduceOp values = is_reducing(part.collective) ? part.op : ReduceOp::SUM;
  const Slice input = buffers.input;
  std::vector<float> staged(static_cast<std::size_t>(std::min(input.size(), kStaged)));
  for (std::size_t i = 0; i < staged.size(); ++i) {
    staged[i] = input_value(static_cast<std::int64_t>(i), part.rank, part.world_size, values);
  }
  for (std::int64_t at = 0; at < input.size(); at += kStaged) {
    const std::int64_t end = std::min(at + kStaged, input.size());
    detail::copy_from_host(input.sub(at, end), staged.data());
  }
}

std::int64_t count_wrong(const Buffers& buffers, const RankPart& part) {
  const auto [collective, rank, world_size, elements, op, root] = part;
  const std::int64_t begin = chunk_begin(elements, rank, world_size);
  const Slice output = buffers.output;
  switch (collective) {
    case kBroadcast:
      return count_unlike(buffers.input, 0, input_of(root, world_size));
    case kReduce:
      return rank == root ? count_unlike(buffers.input, 0, reduction_of(world_size, op)) : 0;
    case kAllReduce:
      return count_unlike(buffers.input, 0, reduction_of(world_size, op));
    case kGather:
      return rank == root ? count_unlike_pieces(output, world_size, 0) : 0;
    case kAllGather:
      return count_unlike_pieces(output, world_size, 0);
    case kScatter:
      return count_unlike(output, rank * (elements / world_size), input_of(root, world_size));
    case kReduceScatter:
      return count_unlike(output, begin, reduction_of(world_size, op));
    case kAllToAll:
      return count_unlike_pieces(output, world_size, begin);
    case kGatherV:  // not compared
    case kAllGatherV:
    case kScatterV:
    case kAllToAllV:
    case kBarrier:  // has no result
    case kSplit:
      return 0;
  }
  return 0;
}

}  // namespace rankbox::cli
