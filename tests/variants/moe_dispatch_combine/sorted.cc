// Choices are sorted by expert, and in an expert by token; an expert's rows of all ranks are brought
// together, for one product each.
#include <algorithm>
#include <vector>

#include "parallel/moe_dispatch_combine.h"

namespace rankbox {

namespace {

struct Row {
  int expert = 0;
  std::int64_t token = 0;
  float gate = 0;
};

/// The rows that are not dropped, by expert and token.
std::vector<Row> kept_rows(const Choices& choices, int k, std::int64_t capacity) {
  std::vector<Row> kept;
  const auto choice_of = [&](int j) {
    std::vector<Row> rows;
    for (std::size_t i = 0; i * static_cast<std::size_t>(k) < choices.experts.size(); ++i) {
      const std::size_t at = i * static_cast<std::size_t>(k) + static_cast<std::size_t>(j);
      rows.push_back({choices.experts[at], static_cast<std::int64_t>(i), choices.gates[at]});
    }
    return rows;
  };
  for (int j = 0; j < k; ++j) {
    for (const Row& row : choice_of(j)) {
      const auto taken = std::ranges::count(kept, row.expert, &Row::expert);
      if (taken < capacity) kept.push_back(row);
    }
  }
  std::ranges::sort(kept, [](const Row& a, const Row& b) {
    return a.expert != b.expert ? a.expert < b.expert : a.token < b.token;
  });
  return kept;
}

}  // namespace

void moe_dispatch_combine(Comm& dist, const Tensor& x, const Tensor& scores, const Tensor& weights,
                          int k, std::int64_t capacity, Tensor& y) {
  const int p = dist.world_size();
  const std::int64_t h = x.shape().extents()[1], own = weights.shape().extents()[0];
  const std::vector<Row> rows = kept_rows(choose_experts(scores, k), k, capacity);
  std::vector<std::int64_t> tokens, counts(static_cast<std::size_t>(own * p));
  std::vector<std::int64_t> out(static_cast<std::size_t>(p)), in = out;
  std::vector<float> gates;
  for (const Row& row : rows) {
    tokens.push_back(row.token);
    gates.push_back(row.gate);
    ++counts[static_cast<std::size_t>(row.expert)];
    out[static_cast<std::size_t>(row.expert / own)] += h;
  }
  TensorOf<std::int64_t> numbers(own * p);
  dist.all_to_all(from_host(counts), numbers);
  const std::vector<std::int64_t> from = to_host(numbers);

  // Where the rows of each rank and expert begin; then their numbers, expert by expert.
  std::vector<std::int64_t> begin = {0}, by_expert, of_expert(static_cast<std::size_t>(own));
  for (const std::int64_t count : from) begin.push_back(begin.back() + count);
  for (std::int64_t e = 0; e < own; ++e) {
    for (int r = 0; r < p; ++r) {
      const auto piece = static_cast<std::size_t>(r * own + e);
      for (std::int64_t i = begin[piece]; i < begin[piece + 1]; ++i) by_expert.push_back(i);
      of_expert[static_cast<std::size_t>(e)] += from[piece];
      in[static_cast<std::size_t>(r)] += h * from[piece];
    }
  }
  Tensor arrived({begin.back(), h});
  dist.all_to_all_v(rows_at(x, tokens), out, arrived, in);
  const Tensor results = apply_experts(rows_at(arrived, by_expert), of_expert, weights);
  Tensor in_order = zeros(arrived.shape());
  add_rows_at(in_order, results, by_expert, std::vector<float>(by_expert.size(), 1));
  Tensor back({static_cast<std::int64_t>(rows.size()), h});
  dist.all_to_all_v(in_order, in, back, out);
  copy(y, zeros(y.shape()));
  add_rows_at(y, back, tokens, gates);
}

}  // namespace rankbox
