// Twenty steps of each model end where they end on the host, whatever computes them.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/run_tests.h"
#include "training/adam.h"
#include "training/cross_entropy.h"
#include "training/initial.h"
#include "training/models/conv_net.h"
#include "training/models/mlp.h"
#include "training/models/text_transformer.h"
#include "training/sgd.h"

namespace rankbox {
namespace {

constexpr std::int64_t kBatch = 12;
constexpr std::int64_t kClasses = 3;

struct Row {
  std::string name;
  Model model;
  Shape sample;
  bool of_tokens;
  // On the host with OpenBLAS: the mean losses of the first step and of the last, and the mean of
  // the parameters' magnitudes at the end.
  double first_loss, last_loss, magnitude;
};

/// A batch that has something to learn: whole numbers for tokens, and labels by the first element.
Tensor batch_of(const Row& row, std::int64_t step, std::vector<std::int32_t>& labels) {
  std::vector<std::int64_t> extents = row.sample.extents();
  extents.insert(extents.begin(), kBatch);
  Tensor x = random_tensor<float>(extents, 1, Random(7).stream(static_cast<std::uint64_t>(step)));
  std::vector<float> values = to_host(x);
  if (row.of_tokens)
    for (float& value : values) value = std::floor((value + 1) * 4.5F);
  labels.clear();
  for (std::int64_t i = 0; i < kBatch; ++i) {
    const float first = values[static_cast<std::size_t>(i * x.size() / kBatch)];
    labels.push_back(static_cast<std::int32_t>(row.of_tokens   ? static_cast<int>(first) % kClasses
                                               : first < -0.3F ? 0
                                               : first < 0.3F  ? 1
                                                               : 2));
  }
  copy(x, from_host(values));
  return x;
}

TEST_CASE("twenty steps of a model give the losses and parameters that the host gives") {
  const Row rows[] = {
      {"mlp",
       mlp({.inputs = 20, .hidden = {33, 17}, .classes = kClasses}),
       {20},
       false,
       1.07012,
       1.07515,
       0.102438},
      {"conv_net",
       conv_net({.side = 8, .filters1 = 3, .filters2 = 5, .classes = kClasses}),
       {8, 8, 1},
       false,
       1.285,
       1.17715,
       0.114206},
      {"text_transformer",
       text_transformer({.vocabulary = 9,
                         .longest = 6,
                         .width = 16,
                         .heads = 2,
                         .feed_forward = 24,
                         .blocks = 2,
                         .classes = kClasses}),
       {6},
       true,
       1.1828,
       0.600636,
       0.130916},
  };
  for (const Row& row : rows) {
    if (!testing::wants_row(row.name)) continue;
    CAPTURE(row.name);
    Sequential model(row.model);
    std::unique_ptr<Optimizer> optimizer;
    if (row.of_tokens) {
      optimizer = std::make_unique<Adam>(model.parameters(), AdamOptions{.learning_rate = 0.005});
    } else {
      optimizer = std::make_unique<Sgd>(model.parameters(),
                                        SgdOptions{.learning_rate = 0.05, .weight_decay = 0.001});
    }
    std::vector<double> losses;
    for (std::int64_t step = 0; step < 20; ++step) {
      std::vector<std::int32_t> labels;
      Tensor x = batch_of(row, step, labels);
      Saved saved(Pass{.step = step});
      Loss loss = cross_entropy(model.forward(std::move(x), saved), labels);
      losses.push_back(loss.mean());
      zero_gradients(model.parameters());
      model.backward(std::move(loss.gradient), saved);
      optimizer->step();
    }
    double sum = 0;
    for (const Parameter* parameter : model.parameters())
      for (const float value : to_host(parameter->value)) sum += std::abs(value);
    const double magnitude = sum / static_cast<double>(count_elements(model.parameters()));
    CHECK(losses.front() == doctest::Approx(row.first_loss).epsilon(1e-4).scale(0));
    CHECK(losses.back() == doctest::Approx(row.last_loss).epsilon(1e-4).scale(0));
    CHECK(magnitude == doctest::Approx(row.magnitude).epsilon(1e-4).scale(0));
  }
}

}  // namespace
}  // namespace rankbox
