// Every layer's gradients, of its input and its parameters, against finite differences.
#include <memory>

#include <doctest/doctest.h>

#include "compute/portable.h"
#include "tests/training/gradient_check.h"
#include "training/cross_entropy.h"
#include "training/layers/attention.h"
#include "training/layers/batch_norm.h"
#include "training/layers/conv.h"
#include "training/layers/dropout.h"
#include "training/layers/embedding.h"
#include "training/layers/first_token.h"
#include "training/layers/gelu.h"
#include "training/layers/layer_norm.h"
#include "training/layers/linear.h"
#include "training/layers/max_pool.h"
#include "training/layers/relu.h"
#include "training/layers/residual.h"
#include "training/sequential.h"

namespace rankbox {
namespace {

using testing::check_gradient;
using testing::check_gradients;
using testing::test_input;

/// Gammas and betas start as ones and zeros, which would hide that one is left out.
void scatter_parameters(LayerOf<double>& layer) {
  std::uint64_t seed = 3;
  for (ParameterOf<double>* parameter : layer.parameters())
    parameter->value += test_input(parameter->value.shape(), seed++);
}

TEST_CASE("linear: gradients are the derivatives, for any number of leading extents") {
  const std::pair<Shape, std::int64_t> inputs[] = {
      {{1, 1}, 1}, {{3, 5}, 5}, {{7}, 7}, {{2, 3, 4}, 4}, {{2, 3, 4}, 12}, {{2, 1, 3, 2}, 6}};
  for (const auto& [shape, in] : inputs) {
    for (const std::int64_t out : {1, 2, 9}) {
      CAPTURE(in);
      CAPTURE(out);
      LinearOf<double> layer(in, out, Random(1));
      check_gradients(layer, test_input(shape));
    }
  }
}

TEST_CASE("relu and gelu: gradients are the derivatives, beyond and below a word of 32 bits") {
  for (const std::int64_t size : {1, 31, 32, 33, 100}) {
    CAPTURE(size);
    ReluOf<double> relu;
    GeluOf<double> gelu;
    TensorOf<double> x = test_input({1, size});
    testing::put(x, 0, 0.5);  // one that is not clipped, at least
    check_gradients(relu, x);
    check_gradients(gelu, x *= 4);
  }
}

TEST_CASE("conv: gradients are the derivatives, whatever kernel, padding, channels and filters") {
  struct Case {
    Shape x;
    ConvOptions options;
  };
  const Case cases[] = {
      {{1, 1, 1, 1}, {1, 1, 1, 0}},     {{2, 5, 5, 1}, {1, 3, 5, 2}}, {{2, 6, 7, 3}, {3, 2, 5, 2}},
      {{1, 5, 9, 2}, {2, 1, 5, 0}},     {{3, 4, 3, 2}, {2, 4, 3, 1}}, {{1, 2, 2, 2}, {2, 2, 5, 3}},
      {{2, 2, 3, 2}, {2, 3, 1, 1}},      // a border wider than the window reaches
      {{2, 2, 17, 12}, {12, 20, 1, 0}},  // more pixels, channels and filters than registers hold
      {{1, 3, 15, 7}, {7, 5, 3, 1}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.x.extents()[0]);
    CAPTURE(c.options.kernel);
    ConvOf<double> layer(c.options, Random(1));
    check_gradients(layer, test_input(c.x));
  }
}

TEST_CASE("max_pool: gradients are the derivatives, also of lines that are left over") {
  const std::pair<Shape, std::int64_t> inputs[] = {{{1, 2, 2, 1}, 2},
                                                   {{2, 4, 6, 3}, 2},
                                                   {{1, 5, 7, 2}, 2},
                                                   {{2, 7, 6, 2}, 3},
                                                   {{1, 2, 3, 1}, 1}};
  for (const auto& [shape, window] : inputs) {
    CAPTURE(window);
    MaxPoolOf<double> layer(window);
    check_gradients(layer, test_input(shape));
  }
}

TEST_CASE("batch_norm and layer_norm: gradients are the derivatives") {
  for (const Shape& shape : {Shape{4, 3}, Shape{2, 3, 5, 4}, Shape{9, 2}, Shape{2, 16}}) {
    const std::int64_t channels = shape.extents().back();
    CAPTURE(channels);
    BatchNormOf<double> batch_norm(channels);
    LayerNormOf<double> layer_norm(channels);
    scatter_parameters(batch_norm);
    scatter_parameters(layer_norm);
    check_gradients(batch_norm, test_input(shape));
    check_gradients(layer_norm, test_input(shape));
  }
}

TEST_CASE("dropout: gradients are the derivatives, with the same mask as forward") {
  for (const double rate : {0.0, 0.3, 0.9}) {
    CAPTURE(rate);
    DropoutOf<double> layer(rate, Random(5));
    Pass pass;
    pass.step = 3;
    pass.samples = {17, 4, 5};
    check_gradients(layer, test_input({3, 40}), pass);
  }
}

TEST_CASE("attention: gradients are the derivatives, with and without padding") {
  struct Case {
    std::int64_t batch, length, heads, d;
    std::vector<std::int32_t> lengths;
  };
  const Case cases[] = {
      {1, 1, 1, 1, {}}, {2, 3, 1, 4, {}}, {2, 5, 3, 2, {}}, {3, 5, 2, 3, {5, 1, 3}}};
  for (const Case& c : cases) {
    CAPTURE(c.length);
    CAPTURE(c.heads);
    AttentionOf<double> layer(c.heads);
    Pass pass;
    pass.lengths = c.lengths;
    check_gradients(layer, test_input({c.batch, c.length, c.heads * 3 * c.d}, 1, 2), pass);
  }
}

TEST_CASE("embedding: gradients of both tables are the derivatives, also of words that repeat") {
  EmbeddingOf<double> layer({.vocabulary = 7, .longest = 5, .width = 3}, Random(1));
  TensorOf<double> tokens({2, 4});
  copy(tokens, from_host({0., 6., 3., 3., 6., 1., 0., 6.}));
  check_gradients(layer, tokens, {}, false);
}

TEST_CASE("first_token: gradients are the derivatives") {
  FirstTokenOf<double> layer;
  for (const Shape& shape : {Shape{1, 1, 1}, Shape{3, 4, 5}})
    check_gradients(layer, test_input(shape));
}

TEST_CASE("layers within layers: gradients are the derivatives") {
  auto inner = std::make_unique<SequentialOf<double>>();
  inner->add("norm", std::make_unique<LayerNormOf<double>>(6))
      .add("fc1", std::make_unique<LinearOf<double>>(6, 9, Random(1)))
      .add("gelu", std::make_unique<GeluOf<double>>())
      .add("fc2", std::make_unique<LinearOf<double>>(9, 6, Random(2)));
  SequentialOf<double> model;
  model.add("block", std::make_unique<ResidualOf<double>>(std::move(inner)))
      .add("head", std::make_unique<LinearOf<double>>(6, 4, Random(3)));
  check_gradients(model, test_input({5, 6}));
  CHECK(model.parameters().front()->name == "block.norm.gamma");
}

TEST_CASE("cross_entropy: its gradient is the derivative of the mean, or of sum / divisor") {
  const std::vector<std::int32_t> labels = {2, 0, kIgnoredLabel, 3, 2};
  for (const double divisor : {0.0, 7.0}) {
    CAPTURE(divisor);
    TensorOf<double> logits = test_input({5, 4}, 1, 5);
    const LossOf<double> loss = cross_entropy<double>(logits, labels, divisor);
    CHECK(loss.counted == 4);
    check_gradient("logits", logits, loss.gradient, [&] {
      const LossOf<double> moved = cross_entropy<double>(logits, labels);
      return divisor == 0 ? moved.mean() : moved.sum / divisor;
    });
  }
}

}  // namespace
}  // namespace rankbox
