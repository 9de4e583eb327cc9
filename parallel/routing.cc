#include "parallel/routing.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "comm/errors.h"
#include "compute/add_rows.h"
#include "compute/for_each.h"
#include "compute/matrix.h"
#include "training/rows.h"

namespace rankbox {

namespace {

struct Grid {
  std::int64_t rows, columns;
};

Grid grid_of(const char* call, const Tensor& tensor) {
  const std::vector<std::int64_t>& extents = tensor.shape().extents();
  if (extents.size() == 2 && extents[1] > 0) return {extents[0], extents[1]};
  throw InvalidArgument(
      fmt::format("{}: a tensor has shape {}, expected rows of at least one "
                  "element; Tensor({{0, h}}) has none, and a width",
                  call, to_string(tensor.shape())));
}

void check_indices(const char* call, const std::vector<std::int64_t>& indices, std::int64_t rows) {
  for (const std::int64_t index : indices) {
    if (index >= 0 && index < rows) continue;
    throw InvalidArgument(fmt::format("{}: there is no row {}, expected 0 to {}; {} rows are there",
                                      call, index, rows - 1, rows));
  }
}

/// Rows of one expert, one after the other.
struct Piece {
  std::int64_t row, rows, expert;
};

template <class F>
void for_each_piece(const std::vector<std::int64_t>& counts, std::int64_t experts, F f) {
  std::int64_t row = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) f(Piece{row, counts[i], static_cast<std::int64_t>(i) % experts});
    row += counts[i];
  }
}

/// Returns h. Throws InvalidArgument unless the counts add up to the rows, and matrices fit.
std::int64_t check_pieces(const char* call, const Tensor& rows,
                          const std::vector<std::int64_t>& counts, const Tensor& weights) {
  const auto [count, width] = grid_of(call, rows);
  const std::vector<std::int64_t>& extents = weights.shape().extents();
  if (extents.size() != 3 || extents[0] == 0 || extents[1] != width || extents[2] != width) {
    throw InvalidArgument(
        fmt::format("{}: rows have {} elements and weights shape {}, expected [experts, {}, {}]",
                    call, width, to_string(weights.shape()), width, width));
  }
  std::int64_t sum = 0;
  for (const std::int64_t each : counts) {
    if (each < 0)
      throw InvalidArgument(fmt::format("{}: a count of {} rows, expected 0 or more", call, each));
    sum += each;
  }
  if (sum == count) return width;
  throw InvalidArgument(fmt::format(
      "{}: counts add up to {} rows, and {} are there; pass the counts of the rows that arrived",
      call, sum, count));
}

/// Rows [row, row + rows) of a tensor of rows of `width`.
template <class T>
auto part_of(T& tensor, std::int64_t row, std::int64_t rows, std::int64_t width) {
  return MatrixOf(tensor.data() + row * width, rows, width);
}

}  // namespace

std::vector<double> probabilities_of(const Tensor& scores) {
  const auto [tokens, experts] = grid_of("probabilities_of", scores);
  const std::vector<float> host = to_host(scores);
  std::vector<double> all(host.begin(), host.end());
  for (std::int64_t token = 0; token < tokens; ++token) {
    const auto begin = all.begin() + token * experts, end = begin + experts;
    const double largest = *std::max_element(begin, end);
    double sum = 0;
    for (auto each = begin; each != end; ++each) sum += * each = std::exp(*each - largest);
    for (auto each = begin; each != end; ++each) *each /= sum;
  }
  return all;
}

Choices choose_experts(const Tensor& scores, int k) {
  const Grid grid = grid_of("choose_experts", scores);
  const std::int64_t tokens = grid.rows, experts = grid.columns;
  if (k < 1 || k > experts) {
    throw InvalidArgument(
        fmt::format("choose_experts: k = {} of {} experts, expected 1 to {}", k, experts, experts));
  }
  const std::vector<float> host = to_host(scores);
  const std::vector<double> probabilities = probabilities_of(scores);
  Choices choices;
  for (std::int64_t token = 0; token < tokens; ++token) {
    const auto at = [&](std::int64_t expert) {
      return static_cast<std::size_t>(token * experts + expert);
    };
    std::vector<int> order(static_cast<std::size_t>(experts));
    std::iota(order.begin(), order.end(), 0);
    for (int j = 0; j < k; ++j) {  // no sort: NaN has no order
      auto best = order.begin() + j;
      for (auto each = best; each != order.end(); ++each) {
        if (host[at(*each)] > host[at(*best)]) best = each;
      }
      std::rotate(order.begin() + j, best, best + 1);
      choices.experts.push_back(order[static_cast<std::size_t>(j)]);
      choices.gates.push_back(static_cast<float>(probabilities[at(choices.experts.back())]));
    }
  }
  return choices;
}

ExpertRows rows_by_expert(const Choices& choices, int k, std::int64_t experts) {
  const auto width = static_cast<std::size_t>(k);
  ExpertRows rows;
  for (std::int64_t expert = 0; expert < experts; ++expert) {
    const std::size_t before = rows.tokens.size();
    for (std::size_t j = 0; j < width; ++j) {
      for (std::size_t at = j; at < choices.experts.size(); at += width) {
        if (choices.experts[at] != expert) continue;
        rows.tokens.push_back(static_cast<std::int64_t>(at / width));
        rows.gates.push_back(choices.gates[at]);
      }
    }
    rows.counts.push_back(static_cast<std::int64_t>(rows.tokens.size() - before));
  }
  return rows;
}

Tensor scores_backward(const Tensor& scores, const ExpertRows& rows,
                       const std::vector<float>& by_gates) {
  const Grid grid = grid_of("scores_backward", scores);
  const std::int64_t experts = grid.columns;
  if (std::ssize(rows.counts) != experts || rows.tokens.size() != by_gates.size()) {
    throw InvalidArgument(
        fmt::format("scores_backward: rows of {} experts and {} derivatives for scores of {} "
                    "experts and {} rows; pass those of the same batch",
                    rows.counts.size(), by_gates.size(), experts, rows.tokens.size()));
  }
  check_indices("scores_backward", rows.tokens, grid.rows);
  const std::vector<double> probabilities = probabilities_of(scores);
  // d p_e / d s_f = p_e (1 if e = f, else 0) - p_e p_f
  std::vector<double> by_scores(probabilities.size()), sums(static_cast<std::size_t>(grid.rows));
  std::size_t row = 0;
  for (std::int64_t expert = 0; expert < experts; ++expert) {
    const std::int64_t count = rows.counts[static_cast<std::size_t>(expert)];
    for (std::int64_t i = 0; i < count; ++i, ++row) {
      const auto at = static_cast<std::size_t>(rows.tokens[row] * experts + expert);
      const double share = probabilities[at] * double{by_gates[row]};
      by_scores[at] += share;
      sums[static_cast<std::size_t>(rows.tokens[row])] += share;
    }
  }
  for (std::size_t at = 0; at < by_scores.size(); ++at)
    by_scores[at] -= probabilities[at] * sums[at / static_cast<std::size_t>(experts)];
  return from_host(std::vector<float>(by_scores.begin(), by_scores.end()), scores.shape());
}

std::vector<float> row_products(const Tensor& a, const Tensor& b) {
  const Grid grid = grid_of("row_products", a);
  if (a.size() != b.size()) {
    throw InvalidArgument(
        fmt::format("row_products: {} and {} elements, expected as many rows of one width",
                    a.size(), b.size()));
  }
  const std::vector<float> left = to_host(a), right = to_host(b);
  std::vector<float> products;
  for (std::int64_t row = 0; row < grid.rows; ++row) {
    double sum = 0;
    for (std::int64_t i = row * grid.columns; i < (row + 1) * grid.columns; ++i)
      sum += double{left[static_cast<std::size_t>(i)]} * double{right[static_cast<std::size_t>(i)]};
    products.push_back(static_cast<float>(sum));
  }
  return products;
}

Tensor rows_at(const Tensor& rows, const std::vector<std::int64_t>& indices) {
  const Grid grid = grid_of("rows_at", rows);
  const std::int64_t width = grid.columns;
  check_indices("rows_at", indices, grid.rows);
  const auto wanted = static_cast<std::int64_t>(indices.size());
  Tensor made({wanted, width});
  if (wanted == 0) return made;
  const TensorOf<std::int64_t> numbers = from_host(indices);
  const std::int64_t* const at = numbers.data();
  const float* const from = rows.data();
  float* const to = made.data();
  for_each(wanted, width, [=] RANKBOX_PORTABLE(std::int64_t row, std::int64_t column) {
    to[row * width + column] = from[at[row] * width + column];
  });
  return made;
}

void add_rows_at(Tensor& into, const Tensor& rows, const std::vector<std::int64_t>& indices,
                 const std::vector<float>& factors) {
  const Grid grid = grid_of("add_rows_at", into);
  const std::int64_t width = grid.columns;
  check_indices("add_rows_at", indices, grid.rows);
  const auto count = static_cast<std::int64_t>(indices.size());
  if (factors.size() != indices.size() || rows.size() != count * width) {
    throw InvalidArgument(fmt::format(
        "add_rows_at: {} elements, {} indices and {} factors, expected a row of {} elements, an "
        "index and a factor for each row that is added",
        rows.size(), indices.size(), factors.size(), width));
  }
  if (count == 0) return;
  const TensorOf<std::int64_t> numbers = from_host(indices);
  const Tensor scales = from_host(factors);
  Tensor scaled = empty_like(rows);
  const std::int64_t* const at = numbers.data();
  const float* const factor = scales.data();
  const float* const from = rows.data();
  float* const to = scaled.data();
  for_each(count, width, [=] RANKBOX_PORTABLE(std::int64_t row, std::int64_t column) {
    to[row * width + column] = factor[row] * from[row * width + column];
  });
  add_rows(
      count, width, [=] RANKBOX_PORTABLE(std::int64_t row) { return at[row]; }, to, grid.rows,
      into.data());
}

Tensor apply_experts(const Tensor& rows, const std::vector<std::int64_t>& counts,
                     const Tensor& weights) {
  const std::int64_t width = check_pieces("apply_experts", rows, counts, weights);
  Tensor made = empty_like(rows);
  for_each_piece(counts, weights.shape().extents()[0], [&](const Piece& piece) {
    multiply(part_of(rows, piece.row, piece.rows, width),
             part_of(weights, piece.expert * width, width, width),
             part_of(made, piece.row, piece.rows, width));
  });
  return made;
}

Tensor apply_experts_backward(const Tensor& rows, const std::vector<std::int64_t>& counts,
                              const Tensor& weights, const Tensor& dy, Tensor& dweights) {
  const std::int64_t width = check_pieces("apply_experts_backward", rows, counts, weights);
  if (dy.size() != rows.size() || dweights.size() != weights.size()) {
    throw InvalidArgument(fmt::format(
        "apply_experts_backward: dy has {} elements and dweights {}, expected {} and {}, as rows "
        "and weights have",
        dy.size(), dweights.size(), rows.size(), weights.size()));
  }
  Tensor made = empty_like(rows);
  for_each_piece(counts, weights.shape().extents()[0], [&](const Piece& piece) {
    const auto of_rows = part_of(dy, piece.row, piece.rows, width);
    multiply(of_rows, part_of(weights, piece.expert * width, width, width).transposed(),
             part_of(made, piece.row, piece.rows, width));
    multiply(part_of(rows, piece.row, piece.rows, width).transposed(), of_rows,
             part_of(dweights, piece.expert * width, width, width), Into::kAdd);
  });
  return made;
}

}  // namespace rankbox
