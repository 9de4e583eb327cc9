#include "judge/long_sequences/sequence.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "judge/case_lists.h"
#include "judge/judge.h"
#include "judge/memory_window.h"
#include "judge/salt.h"

namespace rankbox {

namespace {

constexpr float kBound = 1e-5F;
constexpr float kLoud = 128;
constexpr std::int64_t kBookkeeping = std::int64_t{16} << 10;

/// Multiples of 1/2 from -1 to 1: scores are exact, in any order of additions.
std::vector<float> halves_of(std::int64_t number, const char* name, float factor) {
  Random random = Random(11 ^ salt()).stream(name);
  std::vector<float> values(static_cast<std::size_t>(number));
  for (float& value : values) value = factor * static_cast<float>(random.below(5) - 2) / 2;
  return values;
}

/// The softmax of one query and head over one block, before the division.
struct Part {
  double maximum = -std::numeric_limits<double>::infinity();
  double sum = 0;
  std::vector<double> weighted;

  void scale(double factor) {
    sum *= factor;
    for (double& value : weighted) value *= factor;
  }
  void add(const Part& other) {
    sum += other.sum;
    for (std::size_t i = 0; i < weighted.size(); ++i) weighted[i] += other.weighted[i];
  }
};

/// @param at of the first element of the query's head
Part part_of(const AttentionAlone& attention, std::int64_t query, std::int64_t head,
             const Tokens& block) {
  const Sequence& all = attention.sequence;
  const SequenceShape& shape = all.shape;
  const auto place = [&](std::int64_t token) {
    return static_cast<std::size_t>(token * shape.row() + head * shape.width);
  };
  const auto width = static_cast<std::size_t>(shape.width);
  const double scale = 1 / std::sqrt(static_cast<double>(shape.width));
  std::vector<std::pair<std::int64_t, double>> scores;
  Part part{.weighted = std::vector<double>(width)};
  for (const std::int64_t key : block) {
    if (attention.is_causal && key > query) continue;
    double product = 0;
    for (std::size_t i = 0; i < width; ++i)
      product += double{all.q[place(query) + i]} * double{all.k[place(key) + i]};
    scores.emplace_back(key, scale * product);
    part.maximum = std::max(part.maximum, scale * product);
  }
  for (const auto& [key, score] : scores) {
    const double weight = std::exp(score - part.maximum);
    part.sum += weight;
    for (std::size_t i = 0; i < width; ++i)
      part.weighted[i] += weight * double{all.v[place(key) + i]};
  }
  return part;
}

Part merged(std::vector<Part> parts, bool rescales) {
  Part all{.weighted = std::vector<double>(parts.front().weighted.size())};
  for (const Part& part : parts) all.maximum = std::max(all.maximum, part.maximum);
  for (Part& part : parts) {
    if (rescales) part.scale(std::exp(part.maximum - all.maximum));
    all.add(part);
  }
  return all;
}

}  // namespace

Tokens tokens_between(std::int64_t begin, std::int64_t end) {
  Tokens tokens(static_cast<std::size_t>(end - begin));
  std::iota(tokens.begin(), tokens.end(), begin);
  return tokens;
}

Sequence sequence_of(const SequenceShape& shape, bool may_overflow) {
  const std::int64_t elements = shape.length * shape.row();
  const bool is_loud = may_overflow && shape.length % 2 == 1;
  return {.shape = shape,
          .q = halves_of(elements, "q", is_loud ? kLoud : 1),
          .k = halves_of(elements, "k", 1),
          .v = halves_of(elements, "v", 1),
          .dy = halves_of(elements, "dy", 1)};
}

std::vector<Case> cases_of_ring() {
  constexpr std::int64_t kMostTokens = 150;
  std::vector<Case> cases;
  for (const int p : world_sizes()) {
    for (const std::int64_t length : counts(p)) {
      if (length <= kMostTokens) cases.push_back({.world_size = p, .count = length});
    }
    // Blocks that take less time than their messages, and blocks that take more.
    for (const std::int64_t tokens : {4, 16})
      cases.push_back({.world_size = p, .count = tokens * p});
    if (p == kRanksOfMemory) cases.push_back({.world_size = p, .count = kWideLength});
  }
  return cases;
}

SequenceShape shape_of_ring(const Case& example) {
  SequenceShape shape = {*example.count, 2, 4};
  if (example.world_size != kRanksOfMemory) return shape;
  if (shape.length == kWideLength) shape.heads = 8, shape.width = 16;
  if (shape.length == kLargeLength) shape.width = 25600;
  return shape;
}

Tokens tokens_of_rank(std::int64_t length, int rank, int world_size) {
  return tokens_between(length * rank / world_size, length * (rank + 1) / world_size);
}

Tensor rows_of(const Sequence& sequence, const std::vector<float>& all, const Tokens& tokens) {
  std::vector<float> rows;
  for (const std::int64_t token : tokens) {
    const auto first = all.begin() + token * sequence.shape.row();
    rows.insert(rows.end(), first, first + sequence.shape.row());
  }
  return from_host(
      rows, {static_cast<std::int64_t>(tokens.size()), sequence.shape.heads, sequence.shape.width});
}

Tensor kv_of(const Sequence& sequence, const Tokens& tokens) {
  Tensor kv(
      {2, static_cast<std::int64_t>(tokens.size()), sequence.shape.heads, sequence.shape.width});
  copy(chunk(kv, 0, 2), rows_of(sequence, sequence.k, tokens));
  copy(chunk(kv, 1, 2), rows_of(sequence, sequence.v, tokens));
  return kv;
}

Tensor AttentionAlone::y_of(const Tokens& queries, bool rescales) const {
  std::vector<float> y;
  for (const std::int64_t query : queries) {
    for (std::int64_t head = 0; head < sequence.shape.heads; ++head) {
      std::vector<Part> parts;
      for (const Tokens& block : blocks) parts.push_back(part_of(*this, query, head, block));
      const Part all = merged(std::move(parts), rescales);
      for (const double value : all.weighted) y.push_back(static_cast<float>(value / all.sum));
    }
  }
  return from_host(
      y, {static_cast<std::int64_t>(queries.size()), sequence.shape.heads, sequence.shape.width});
}

std::vector<NamedTensor> named(const char* name, Tensor tensor) {
  std::vector<NamedTensor> all(1);
  all.front() = {name, std::move(tensor)};
  return all;
}

std::optional<Difference> compare_named(const char* name, const Tensor& actual,
                                        const Tensor& expected,
                                        const std::vector<Mistake>& mistakes,
                                        const Hint& otherwise) {
  return compare_tensors(named(name, clone(actual)), named(name, clone(expected)), kBound, mistakes,
                         otherwise);
}

std::optional<Difference> excess_of_memory(std::int64_t peak, const Hint& hint,
                                           const std::function<void()>& call) {
  const MemoryWindow window;
  call();
  if (judges_only_values()) return std::nullopt;
  const bool keeps = window.kept() > kBookkeeping;
  if (!keeps && window.peak() <= peak + kBookkeeping) return std::nullopt;
  const auto in_bytes = [](std::int64_t bytes) { return fmt::format("{} bytes", bytes); };
  Difference excess{
      keeps ? "memory still held after the call" : "memory held besides the arguments", -1,
      "at most " + in_bytes(keeps ? kBookkeeping : peak + kBookkeeping),
      in_bytes(keeps ? window.kept() : window.peak()),
      keeps ? Hint("kept-after-call", "y alone stays; is a block kept for later?") : hint};
  excess.kind = FailureKind::kMemory;
  return excess;
}

}  // namespace rankbox
