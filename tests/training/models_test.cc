// Models: what pipelines, checkpoints and many ranks rely on.
#include <set>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include "comm/errors.h"
#include "comm/memory_meter.h"
#include "tests/support/run_tests.h"
#include "tests/support/thrown.h"
#include "tests/training/gradient_check.h"
#include "training/cross_entropy.h"
#include "training/models/conv_net.h"
#include "training/models/mlp.h"
#include "training/models/text_transformer.h"
#include "training/sgd.h"

namespace rankbox {
namespace {

/// A small one of each, and an input for it.
struct Example {
  std::string name;
  ModelOf<double> model;
  TensorOf<double> x;
  Pass pass;
};

std::vector<Example> examples() {
  std::vector<Example> all;
  all.push_back({"mlp",
                 mlp<double>({.inputs = 12, .hidden = {7, 5}, .classes = 3}),
                 testing::test_input({4, 2, 6, 1}),
                 {}});
  all.push_back({"conv_net",
                 conv_net<double>({.side = 8, .filters1 = 2, .filters2 = 3, .classes = 3}),
                 testing::test_input({4, 8, 8, 1}),
                 {}});
  const TextTransformerOptions options{.vocabulary = 9,
                                       .longest = 6,
                                       .width = 8,
                                       .heads = 2,
                                       .feed_forward = 12,
                                       .blocks = 2,
                                       .classes = 3};
  TensorOf<double> tokens({4, 6});
  for (std::int64_t i = 0; i < tokens.size(); ++i)
    testing::put(tokens, i, static_cast<double>(i * 7 % 9));
  all.push_back({"text_transformer",
                 text_transformer<double>(options),
                 tokens,
                 {.samples = {5, 6, 7, 8}, .lengths = {6, 1, 4, 5}}});
  return all;
}

TEST_CASE("models: all gradients are the derivatives") {
  for (const Example& example : examples()) {
    if (!testing::wants_row(example.name)) continue;
    CAPTURE(example.name);
    SequentialOf<double> model(example.model);
    testing::check_gradients(model, example.x, example.pass, false);
  }
}

TEST_CASE("a model cut anywhere computes what the whole computes, bit by bit") {
  const std::vector<std::int32_t> labels = {0, 2, 1, 1};
  for (const Example& example : examples()) {
    if (!testing::wants_row(example.name)) continue;
    CAPTURE(example.name);
    SequentialOf<double> whole(example.model);
    SavedOf<double> saved(example.pass);
    const auto y = whole.forward(example.x, saved);
    const auto dy = cross_entropy<double>(y, labels).gradient;
    whole.backward(dy, saved);

    for (std::int64_t cut = 0; cut <= whole.size(); ++cut) {
      CAPTURE(cut);
      SequentialOf<double> first(example.model, 0, cut), second(example.model, cut);
      SavedOf<double> first_saved(example.pass), second_saved(example.pass);
      const auto middle = first.forward(example.x, first_saved);
      CHECK(to_host(second.forward(middle, second_saved)) == to_host(y));
      first.backward(second.backward(dy, second_saved), first_saved);
      std::vector<ParameterOf<double>*> parameters = first.parameters();
      for (ParameterOf<double>* parameter : second.parameters()) parameters.push_back(parameter);
      const std::vector<ParameterOf<double>*> expected = whole.parameters();
      REQUIRE(parameters.size() == expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        CHECK(parameters[i]->name == expected[i]->name);
        CHECK(to_host(parameters[i]->value) == to_host(expected[i]->value));
        CHECK(to_host(parameters[i]->gradient) == to_host(expected[i]->gradient));
      }
    }
  }
}

TEST_CASE("a stage costs the memory of its own layers") {
  MemoryMeter meter;
  meter.owner = 1;
  current_memory_meter() = &meter;
  {
    Sequential last(mlp(), 4);
    CHECK(meter.peak_bytes == 4 * (256 * 10 + 10));
  }
  current_memory_meter() = nullptr;
  CHECK(meter.current_bytes == 0);
}

TEST_CASE("stages that do not exist are refused") {
  CHECK(testing::lacks(testing::refusal([&] { Sequential(mlp(), 2, 6); }), {"2 to 6", "5"}) == "");
  CHECK_THROWS_AS(Sequential(mlp(), -2), InvalidArgument);
  CHECK_THROWS_AS(Sequential(mlp(), 3, 2), InvalidArgument);
  CHECK_THROWS_AS(text_transformer({.width = 10, .heads = 4}), InvalidArgument);
}

TEST_CASE("names are unique, and say where a parameter is") {
  for (const Example& example : examples()) {
    if (!testing::wants_row(example.name)) continue;
    SequentialOf<double> model(example.model);
    std::set<std::string> names;
    for (const auto* parameter : model.parameters()) CHECK(names.insert(parameter->name).second);
    for (const auto* tensor : model.statistics()) CHECK(names.insert(tensor->name).second);
    if (example.name == "text_transformer") CHECK(names.contains("block2.feed_forward.fc1.weight"));
    if (example.name == "conv_net") CHECK(names.contains("norm2.running_var"));
  }
}

TEST_CASE(
    "the same seed gives the same parameters, another one others, and no two layers are alike") {
  const auto values = [](std::uint64_t seed) {
    Sequential model(mlp({.inputs = 9, .hidden = {9, 9}, .classes = 9, .seed = seed}));
    std::vector<std::vector<float>> all;
    for (const Parameter* parameter : model.parameters()) all.push_back(to_host(parameter->value));
    return all;
  };
  CHECK(values(1) == values(1));
  CHECK(values(1) != values(2));
  const auto layers = values(1);
  CHECK(layers[0] != layers[2]);
  CHECK(layers[2] != layers[4]);
}

/// Parameters after some steps on made-up data.
std::vector<float> trained(const Model& model, const Shape& shape) {
  Sequential layers(model);
  Sgd sgd(layers.parameters(), {.learning_rate = 0.01});
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < shape.extents()[0]; ++i)
    labels.push_back(static_cast<std::int32_t>(i % 10));
  for (std::uint64_t step = 0; step < 3; ++step) {
    Saved saved;
    const Tensor y = layers.forward(random_tensor<float>(shape, 1, Random(step)), saved);
    zero_gradients(layers.parameters());
    layers.backward(cross_entropy(y, labels).gradient, saved);
    sgd.step();
  }
  std::vector<float> all;
  for (const Parameter* parameter : layers.parameters())
    for (const float value : to_host(parameter->value)) all.push_back(value);
  return all;
}

TEST_CASE("training gives the same bits every time, and on two threads at once") {
  for (const Model& model : {mlp(), conv_net()}) {
    const Shape shape{32, 28, 28, 1};
    const std::vector<float> alone = trained(model, shape);
    CHECK(trained(model, shape) == alone);
    std::vector<float> first, second;
    std::jthread other([&] { first = trained(model, shape); });
    second = trained(model, shape);
    other.join();
    CHECK(first == alone);
    CHECK(second == alone);
  }
}

}  // namespace
}  // namespace rankbox
