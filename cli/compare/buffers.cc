// The tensors of a row: their sizes, what goes in, and what must come out.
#include <algorithm>
#include <array>
#include <cmath>

#include "cli/compare/algorithms.h"

namespace rankbox::cli {
namespace {

using enum CollectiveKind;

// Element i of a rank's input depends on (i + rank) mod kPeriod alone, so that what a reduction
// must give can be computed once per remainder instead of once per element and rank.
constexpr int kPeriod = 5;

/// Whole numbers small enough that float32 sums them exactly; powers of two for products, of which
/// few are not 1, so that the product of very many ranks stays finite.
float input_value(std::int64_t index, int rank, ReduceOp op) {
  const auto phase = static_cast<int>((index + rank) % kPeriod);
  if (op == ReduceOp::PRODUCT) {
    return rank < 32 && phase == 0 ? 2.0f : 1.0f;
  }
  return static_cast<float>(1 + phase);
}

double reduced_value(std::int64_t index, int world_size, ReduceOp op) {
  double result = static_cast<double>(input_value(index, 0, op));
  for (int rank = 1; rank < world_size; ++rank) {
    const auto value = static_cast<double>(input_value(index, rank, op));
    switch (op) {
      case ReduceOp::SUM:
      case ReduceOp::AVG:
        result += value;
        break;
      case ReduceOp::PRODUCT:
        result *= value;
        break;
      case ReduceOp::MAX:
        result = std::max(result, value);
        break;
      case ReduceOp::MIN:
        result = std::min(result, value);
        break;
    }
  }
  return op == ReduceOp::AVG ? result / world_size : result;
}

/// Where element i of the chunk of `rank` lies in the whole tensor of `elements`.
std::int64_t chunk_begin(std::int64_t elements, int rank, int world_size) {
  return elements * rank / world_size;
}

/// Elements of `result` that are not expected(index), but for the rounding of a division.
template <class Expected>
std::int64_t count_differences(const Tensor& result, Expected expected) {
  const std::vector<float> values = to_host(result);
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double want = expected(static_cast<std::int64_t>(i));
    // Written so that NaN counts as wrong.
    wrong += std::abs(static_cast<double>(values[i]) - want) <= 1e-6 * std::abs(want) ? 0 : 1;
  }
  return wrong;
}

std::int64_t count_unreduced(const Tensor& result, std::int64_t begin, int world_size,
                             ReduceOp op) {
  std::array<double, kPeriod> expected{};
  for (int phase = 0; phase < kPeriod; ++phase) {
    expected[static_cast<std::size_t>(phase)] = reduced_value(phase, world_size, op);
  }
  return count_differences(result, [&](std::int64_t i) {
    return expected[static_cast<std::size_t>((begin + i) % kPeriod)];
  });
}

double input_at(std::int64_t index, int rank) {
  return static_cast<double>(input_value(index, rank, ReduceOp::SUM));
}

}  // namespace

std::int64_t elements_of(CollectiveKind collective, int world_size, std::int64_t bytes) {
  const std::int64_t elements = bytes / size_of(Tensor::dtype());
  switch (collective) {
    case kBarrier:
      return 0;
    case kGather:
    case kAllGather:
    case kScatter:
      return std::max(elements / world_size, std::int64_t{1}) * world_size;
    default:
      return elements;
  }
}

Buffers make_buffers(CollectiveKind collective, int rank, int world_size, std::int64_t elements,
                     float value) {
  const std::int64_t piece = elements / world_size;
  const std::int64_t my_chunk =
      chunk_begin(elements, rank + 1, world_size) - chunk_begin(elements, rank, world_size);
  switch (collective) {
    case kBarrier:
      return {};
    case kGather:
      return {full({piece}, value), rank == 0 ? zeros({elements}) : Tensor()};
    case kAllGather:
      return {full({piece}, value), zeros({elements})};
    case kScatter:
      return {rank == 0 ? full({elements}, value) : Tensor(), zeros({piece})};
    case kReduceScatter:
      return {full({elements}, value), zeros({my_chunk})};
    case kAllToAll:
      return {full({elements}, value), zeros({world_size * my_chunk})};
    default:
      return {full({elements}, value), Tensor()};
  }
}

void fill_input(CollectiveKind collective, Buffers& buffers, int rank, ReduceOp op) {
  const ReduceOp values = is_reducing(collective) ? op : ReduceOp::SUM;
  std::vector<float> host(static_cast<std::size_t>(buffers.input.size()));
  for (std::size_t i = 0; i < host.size(); ++i) {
    host[i] = input_value(static_cast<std::int64_t>(i), rank, values);
  }
  buffers.input = from_host(host);
}

std::int64_t count_wrong(CollectiveKind collective, const Buffers& buffers, int rank,
                         int world_size, std::int64_t elements, ReduceOp op) {
  const std::int64_t piece = elements / world_size;
  switch (collective) {
    case kBroadcast:
      return count_differences(buffers.input, [](std::int64_t i) { return input_at(i, 0); });
    case kReduce:
      return rank == 0 ? count_unreduced(buffers.input, 0, world_size, op) : 0;
    case kAllReduce:
      return count_unreduced(buffers.input, 0, world_size, op);
    case kGather:
    case kAllGather:
      return count_differences(buffers.output, [piece](std::int64_t i) {
        return input_at(i % piece, static_cast<int>(i / piece));
      });
    case kScatter:
      return count_differences(buffers.output,
                               [&](std::int64_t i) { return input_at(rank * piece + i, 0); });
    case kReduceScatter:
      return count_unreduced(buffers.output, chunk_begin(elements, rank, world_size), world_size,
                             op);
    case kAllToAll: {
      const std::int64_t block = buffers.output.size() / world_size;
      return count_differences(buffers.output, [&](std::int64_t i) {
        return input_at(chunk_begin(elements, rank, world_size) + i % block,
                        static_cast<int>(i / block));
      });
    }
    case kBarrier:  // has no result
    case kSplit:
      return 0;
  }
  return 0;
}

}  // namespace rankbox::cli
