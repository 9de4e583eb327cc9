// Layers and losses compute what their formulas say.
#include "judge/formulas/formulas.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/run_tests.h"
#include "training/initial.h"
#include "training/layers/attention.h"
#include "training/layers/batch_norm.h"
#include "training/layers/layer_norm.h"
#include "training/layers/linear.h"

namespace rankbox {
namespace {

using Doubles = TensorOf<double>;

Doubles input(const Shape& shape, std::uint64_t seed = 1) {
  return random_tensor<double>(shape, 2, Random(seed));
}

/// Returns the largest distance of two elements; infinite for tensors of two shapes.
double distance(const Doubles& a, const Doubles& b) {
  if (!(a.shape() == b.shape())) return std::numeric_limits<double>::infinity();
  const std::vector<double> left = to_host(a), right = to_host(b);
  double largest = 0;
  for (std::size_t i = 0; i < left.size(); ++i)
    largest = std::max(largest, std::abs(left[i] - right[i]));
  return largest;
}

constexpr double kRounding = 1e-12;

struct Size {
  std::int64_t rows;
  std::int64_t width;
};
constexpr Size kSizes[] = {{1, 1}, {2, 1}, {1, 5}, {7, 3}, {4, 33}};

TEST_CASE("linear is x Wᵀ + b") {
  for (const auto [rows, width] : kSizes) {
    CAPTURE(rows);
    CAPTURE(width);
    SavedOf<double> saved;
    LinearOf<double> layer(width, 4, Random(2));
    layer.bias.value = input({4}, 3);
    const Doubles x = input({rows, width});
    CHECK(distance(layer.forward(clone(x), saved),
                   formula::linear(x, layer.weight.value, layer.bias.value)) < kRounding);
  }
}

TEST_CASE("batch and layer normalization, forward and backward") {
  for (const auto [rows, width] : kSizes) {
    CAPTURE(rows);
    CAPTURE(width);
    const Doubles x = input({rows, width}), dy = input({rows, width}, 2);
    SavedOf<double> saved(Pass{.mode = Mode::kTraining});
    BatchNormOf<double> by_column(width, {.epsilon = 0.01});
    const formula::Normalized of_batch = formula::batch_norm(x, dy, 0.01);
    CHECK(distance(by_column.forward(clone(x), saved), of_batch.y) < kRounding);
    CHECK(distance(by_column.backward(clone(dy), saved), of_batch.dx) < kRounding);

    LayerNormOf<double> by_row(width, 0.01);
    const formula::Normalized of_rows = formula::layer_norm(x, dy, 0.01);
    CHECK(distance(by_row.forward(clone(x), saved), of_rows.y) < kRounding);
    CHECK(distance(by_row.backward(clone(dy), saved), of_rows.dx) < kRounding);
  }
}

TEST_CASE("cross entropy: sum, counts and gradient, also where no label counts") {
  for (const auto [rows, classes] : kSizes) {
    for (const int counting : {0, 1, 2}) {
      CAPTURE(rows);
      CAPTURE(classes);
      CAPTURE(counting);
      std::vector<std::int32_t> labels;
      for (std::int64_t row = 0; row < rows; ++row) {
        const bool counts = counting == 2 || (counting == 1 && row % 2 == 1);
        labels.push_back(counts ? static_cast<std::int32_t>(5 * row % classes) : kIgnoredLabel);
      }
      const Doubles logits = input({rows, classes});
      const LossOf<double> loss = cross_entropy(logits, labels);
      const LossOf<double> expected = formula::cross_entropy(logits, labels);
      CHECK(std::abs(loss.sum - expected.sum) < kRounding);
      CHECK(loss.counted == expected.counted);
      CHECK(loss.correct == expected.correct);
      CHECK(distance(loss.gradient, expected.gradient) < kRounding);
    }
  }
}

TEST_CASE("attention is softmax(q kᵀ / √d) v of every sample and head") {
  for (const std::int64_t heads : {1, 2, 3}) {
    for (const std::int64_t length : {1, 2, 5}) {
      CAPTURE(heads);
      CAPTURE(length);
      const Doubles x = input({2, length, heads * 3 * 4});
      SavedOf<double> saved;
      CHECK(distance(AttentionOf<double>(heads).forward(clone(x), saved),
                     formula::attention(x, heads)) < kRounding);
    }
  }
}

}  // namespace
}  // namespace rankbox
