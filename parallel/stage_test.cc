#include "parallel/stage.h"

#include <cmath>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "comm/errors.h"
#include "tests/support/run_tests.h"
#include "tests/support/text.h"
#include "training/layers/linear.h"
#include "training/models/conv_net.h"
#include "training/models/mlp.h"
#include "training/models/text_transformer.h"
#include "training/random.h"

namespace rankbox {
namespace {

struct Example {
  std::string name;
  Model model;
  Shape sample;
  bool is_text = false;
  bool sees_whole_batch = false;  // batch norm: each micro-batch is normalized by itself
};

std::vector<Example> examples() {
  return {
      {"mlp", mlp({.inputs = 12, .hidden = {9, 7}, .classes = 3}), {3, 4, 1}},
      {"conv_net",
       conv_net({.side = 8, .filters1 = 2, .filters2 = 3, .classes = 3}),
       {8, 8, 1},
       false,
       true},
      {"text_transformer",
       text_transformer(
           {.vocabulary = 20, .longest = 5, .width = 8, .heads = 2, .feed_forward = 9}),
       {5},
       true},
  };
}

Batch batch_of(const Example& example, std::int64_t samples) {
  Random random(5);
  std::vector<std::int64_t> extents = example.sample.extents();
  extents.insert(extents.begin(), samples);
  const Shape shape = extents;
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  for (float& value : values)
    value = static_cast<float>(example.is_text ? static_cast<double>(random.below(20))
                                               : random.uniform(-1, 1));
  Batch batch{from_host(values, shape), {}, {}, {}};
  for (std::int64_t i = 0; i < samples; ++i) {
    batch.labels.push_back(static_cast<std::int32_t>(i % 2));
    batch.samples.push_back(100 + i);
    if (example.is_text) batch.lengths.push_back(static_cast<std::int32_t>(2 + i % 4));
  }
  return batch;
}

std::vector<Stage> stages_of(const Example& example, int number) {
  std::vector<Stage> stages;
  for (const StageCut& cut : cut_into_stages(example.model, example.sample, number))
    stages.emplace_back(example.model, cut);
  return stages;
}

/// All micro-batches through all stages and back; `in_halves`: the gradients of weights at the end.
void step(std::vector<Stage>& stages, const Batch& batch, int micro_batches,
          bool in_halves = false) {
  for (Stage& stage : stages) stage.load(micro_batches_of(batch, micro_batches), 3);
  for (int i = 0; i < micro_batches; ++i) {
    Tensor travels;
    for (Stage& stage : stages) {
      CHECK(travels.shape() == stage.empty_input(i).shape());
      travels = stage.forward(i, std::move(travels));
    }
    for (std::size_t s = stages.size(); s-- > 0;) {
      CHECK(travels.shape() == stages[s].empty_output_gradient(i).shape());
      travels = in_halves ? stages[s].backward_input(i, std::move(travels))
                          : stages[s].backward(i, std::move(travels));
    }
  }
  for (Stage& stage : stages) {
    for (int i = 0; in_halves && i < micro_batches; ++i) stage.backward_weights(i);
  }
}

std::vector<std::vector<float>> gradients_of(std::vector<Stage>& stages) {
  std::vector<std::vector<float>> all;
  for (Stage& stage : stages) {
    for (const Parameter* parameter : stage.parameters())
      all.push_back(to_host(parameter->gradient));
  }
  return all;
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST_CASE(
    "stages and micro-batches give the gradients of the whole model and batch, dropout included") {
  for (const Example& example : examples()) {
    if (!testing::wants_row(example.name)) continue;
    for (int number = 1; number <= static_cast<int>(example.model.size()); ++number) {
      const int micro_batches = example.sees_whole_batch ? 1 : 3;
      CAPTURE(example.name);
      CAPTURE(number);
      const Batch batch = batch_of(example, 7);
      std::vector<Stage> stages = stages_of(example, number);
      step(stages, batch, micro_batches);

      Sequential whole(example.model);
      Saved saved(batch.pass(Mode::kTraining, 3));
      const Loss loss = cross_entropy(whole.forward(batch.x, saved), batch.labels);
      whole.backward(clone(loss.gradient), saved);

      CHECK(stages.back().loss().sum == doctest::Approx(loss.sum).epsilon(1e-5));
      CHECK(stages.back().loss().counted == 7);
      CHECK(stages.back().loss().correct == loss.correct);
      std::vector<Parameter*> parts;
      for (Stage& stage : stages) {
        for (Parameter* parameter : stage.parameters()) parts.push_back(parameter);
      }
      const std::vector<Parameter*> expected = whole.parameters();
      REQUIRE(parts.size() == expected.size());
      double largest = 0;
      for (std::size_t k = 0; k < parts.size(); ++k) {
        REQUIRE(parts[k]->name == expected[k]->name);
        const std::vector<float> is = to_host(parts[k]->gradient);
        const std::vector<float> should_be = to_host(expected[k]->gradient);
        REQUIRE(is.size() == should_be.size());
        for (std::size_t i = 0; i < is.size(); ++i) {
          largest = std::max(largest, std::abs(double{should_be[i]}));
          REQUIRE(std::abs(double{is[i]} - should_be[i]) <= 2e-6);
        }
      }
      CHECK(largest > 1e-2);  // there is something to compare
    }
  }
}

TEST_CASE("the halves of backward add up to backward, to the last bit") {
  for (const Example& example : examples()) {
    if (!testing::wants_row(example.name)) continue;
    CAPTURE(example.name);
    const int micro_batches = example.sees_whole_batch ? 1 : 3;
    std::vector<Stage> together = stages_of(example, 2);
    std::vector<Stage> halves = stages_of(example, 2);
    step(together, batch_of(example, 7), micro_batches);
    step(halves, batch_of(example, 7), micro_batches, true);
    CHECK(gradients_of(halves) == gradients_of(together));
  }
}

TEST_CASE("after its first half a stage holds x and dy of each Linear, after its second nothing") {
  Model model;
  model.push_back(recipe<Linear>("fc0", std::int64_t{4}, std::int64_t{5}, Random(1)));
  model.push_back(recipe<Linear>("fc1", std::int64_t{5}, std::int64_t{3}, Random(2)));
  Sequential layers(model);
  Saved saved;
  layers.forward(zeros({2, 4}), saved);
  CHECK(saved.bytes() == 2 * (4 + 5) * 4);  // their inputs
  saved.postpone_weights();
  layers.backward(full({2, 3}, 1), saved);
  CHECK(saved.empty());
  CHECK(saved.bytes() == 2 * (4 + 5 + 5 + 3) * 4);
  for (const Parameter* parameter : layers.parameters()) CHECK(parameter->gradient.empty());
  saved.run_postponed();
  CHECK(saved.bytes() == 0);
  CHECK(to_host(layers.parameters().back()->gradient) == std::vector<float>{2, 2, 2});
}

TEST_CASE("stages are as even as possible, none is empty, and together they are the model") {
  const Model model = mlp();  // 401,920, 131,328 and 2,570 parameters, and two rectifiers
  const std::vector<StageCut> two = cut_into_stages(model, {28, 28, 1}, 2);
  CHECK(two[0].end == 1);  // fc1 alone is more than all others
  CHECK(two[0].input == Shape{28, 28, 1});
  CHECK(two[0].output == Shape(512));
  CHECK(two[1].output == Shape(10));
  for (const Example& example : examples()) {
    if (!testing::wants_row(example.name)) continue;
    for (int number = 1; number <= static_cast<int>(example.model.size()); ++number) {
      std::int64_t next = 0;
      for (const StageCut& cut : cut_into_stages(example.model, example.sample, number)) {
        CHECK(cut.begin == next);
        CHECK(cut.end > cut.begin);
        next = cut.end;
      }
      CHECK(next == static_cast<std::int64_t>(example.model.size()));
    }
  }
}

TEST_CASE("stages may be cut first, and shapes found when the data is known") {
  for (const Example& example : examples()) {
    if (!testing::wants_row(example.name)) continue;
    const std::vector<StageCut> at_once = cut_into_stages(example.model, example.sample, 3);
    std::vector<StageCut> later = cut_into_stages(example.model, 3);
    find_shapes(example.model, example.sample, later);
    for (std::size_t s = 0; s < 3; ++s) {
      CHECK(later[s].begin == at_once[s].begin);
      CHECK(later[s].input == at_once[s].input);
      CHECK(later[s].output == at_once[s].output);
      if (s > 0) CHECK(later[s].input == later[s - 1].output);
    }
  }
}

TEST_CASE("the largest of even stages has at most its share") {
  Model model;
  for (int i = 0; i < 8; ++i)
    model.push_back(
        recipe<Linear>("fc" + std::to_string(i), std::int64_t{4}, std::int64_t{4}, Random(1)));
  for (const int number : {1, 2, 4, 8}) {
    for (const StageCut& cut : cut_into_stages(model, {4}, number))
      CHECK(cut.end - cut.begin == 8 / number);
  }
}

TEST_CASE("more stages than layers are refused in one line") {
  for (const int stages : {6, 0}) {
    const std::string message = message_of([&] { cut_into_stages(mlp(), {28, 28, 1}, stages); });
    CHECK(testing::lacks(message, {std::to_string(stages), "1 to 5"}) == "");
  }
}

TEST_CASE("a stage refuses passes out of order") {
  const Example example = examples().front();
  std::vector<Stage> stages = stages_of(example, 2);
  for (Stage& stage : stages) stage.load(micro_batches_of(batch_of(example, 5), 2));
  Stage& first = stages[0];
  Stage& last = stages[1];
  CHECK(testing::lacks(message_of([&] { first.forward(2, {}); }),
                       {"forward of micro-batch 2", "2"}) == "");
  CHECK(testing::lacks(message_of([&] { first.backward(0, first.empty_output_gradient(0)); }),
                       {"backward of micro-batch 0"}) == "");
  const Tensor y = first.forward(0, {});
  CHECK(testing::lacks(message_of([&] { first.forward(0, {}); }), {"forward of micro-batch 0"}) ==
        "");
  CHECK(testing::lacks(message_of([&] { last.forward(1, y); }),
                       {"forward of micro-batch 1", "[2, 9]", "[3, 9]", "empty_input(1)"}) == "");
  CHECK(testing::lacks(message_of([&] { first.backward(0, {}); }),
                       {"backward of micro-batch 0", "[]", "[2, 9]", "empty_output_gradient(0)"}) ==
        "");
  first.backward(0, first.empty_output_gradient(0));
  CHECK(testing::lacks(message_of([&] { first.backward(0, first.empty_output_gradient(0)); }),
                       {"backward of micro-batch 0"}) == "");
  CHECK(testing::lacks(message_of([&] { first.backward_weights(0); }),
                       {"backward_weights of micro-batch 0"}) == "");
  first.forward(1, {});
  CHECK(testing::lacks(message_of([&] { first.backward_weights(1); }),
                       {"backward_weights of micro-batch 1", "backward_input"}) == "");
  first.backward_input(1, first.empty_output_gradient(1));
  CHECK(testing::lacks(message_of([&] { first.backward_input(1, first.empty_output_gradient(1)); }),
                       {"backward_input of micro-batch 1"}) == "");
  CHECK(testing::lacks(message_of([&] { micro_batches_of(batch_of(example, 5), 6); }),
                       {"6", "5", "1 to 5"}) == "");
}

TEST_CASE("a stage reports each pass before it happens, and is ready for the next step") {
  const Example example = examples().front();
  std::vector<Stage> stages = stages_of(example, 1);
  std::string told;
  stages[0].on_turn = [&](Turn turn, int i) {
    told += fmt::format("{}{} ", "FBbW"[static_cast<int>(turn)], i);
  };
  step(stages, batch_of(example, 4), 2);
  step(stages, batch_of(example, 4), 1);
  step(stages, batch_of(example, 4), 1, true);
  CHECK(told == "F0 B0 F1 B1 F0 B0 F0 b0 W0 ");
  CHECK(stages[0].loss().counted == 4);  // of the last step
}

}  // namespace
}  // namespace rankbox
