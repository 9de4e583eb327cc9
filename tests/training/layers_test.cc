// What layers promise besides their gradients.
#include <algorithm>
#include <array>
#include <barrier>
#include <cmath>
#include <memory>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include "comm/errors.h"
#include "tests/support/run_tests.h"
#include "tests/support/thrown.h"
#include "training/initial.h"
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
#include "training/rows.h"
#include "training/sequential.h"

namespace rankbox {
namespace {

Tensor input(const Shape& shape, std::uint64_t seed = 1) {
  return random_tensor<float>(shape, 1, Random(seed));
}

const Pass kEvaluate{.mode = Mode::kEvaluation};

TEST_CASE("linear, relu and gelu: values") {
  Saved saved;
  Linear linear(2, 3, Random(1));
  linear.weight.value = from_host({1.F, 2.F, 3.F, 4.F, 5.F, 6.F});
  linear.bias.value = from_host({.5F, 0.F, -1.F});
  CHECK(to_host(linear.forward(from_host({1.F, 10.F}), saved)) ==
        std::vector<float>{21.5F, 43.F, 64.F});
  CHECK(to_host(Relu().forward(from_host({-1.F, 0.F, 2.F}), saved)) ==
        std::vector<float>{0.F, 0.F, 2.F});
  const std::vector<float> gelu = to_host(Gelu().forward(from_host({-1.F, 0.F, 1.F}), saved));
  CHECK(gelu[0] == doctest::Approx(-0.158655));  // Φ(-1) = 0.158655
  CHECK(gelu[1] == 0);
  CHECK(gelu[2] == doctest::Approx(0.841345));
}

TEST_CASE("linear: an empty bias is none, both ways; values that do not fit are refused") {
  Saved saved;
  Linear linear(full({3, 2}, 1), Tensor());
  CHECK(linear.parameters() == std::vector<Parameter*>{&linear.weight});
  CHECK(to_host(linear.forward(from_host({1.F, 10.F}), saved)) == std::vector<float>(3, 11.F));
  CHECK(to_host(linear.backward(from_host({1.F, 2.F, 3.F}), saved)) == std::vector<float>(2, 6.F));
  CHECK(to_host(linear.weight.gradient) == std::vector<float>{1.F, 10.F, 2.F, 20.F, 3.F, 30.F});
  CHECK(linear.bias.gradient.empty());
  CHECK(Linear(full({3, 2}, 1), zeros(3)).parameters().size() == 2);
  CHECK_THROWS_AS(Linear(full({3, 2}, 1), zeros(2)), InvalidArgument);
  CHECK_THROWS_AS(Linear(zeros(6), Tensor()), InvalidArgument);
}

TEST_CASE("linear: the last extents are a row, whatever the width, and those before stay") {
  struct Row {
    Shape in;
    std::int64_t width;
    Shape out;
  };
  const Row rows[] = {{{4, 3}, 3, {4, 2}},       {{4, 1}, 1, {4, 2}},
                      {{4, 5, 3}, 3, {4, 5, 2}}, {{4, 5, 3}, 15, {4, 2}},
                      {{4, 1, 3}, 3, {4, 1, 2}}, {{4, 1, 1}, 1, {4, 1, 2}}};
  for (const Row& row : rows) {
    CAPTURE(row.width);
    Saved saved;
    const Tensor y = Linear(row.width, 2, Random(1)).forward(input(row.in), saved);
    CHECK(y.shape() == row.out);
  }
}

template <class T>
void check_conv(const Shape& input, const ConvOptions& options) {
  CAPTURE(to_string(input));
  CAPTURE(options.filters);
  ConvOf<T> conv(options, Random(1));
  const auto x = random_tensor<T>(input, 1, Random(2));
  SavedOf<T> saved;
  const TensorOf<T> y = conv.forward(x, saved);
  const std::int64_t kernel = options.kernel, channels = options.channels;
  const std::int64_t height = input.extents()[1], width = input.extents()[2];
  const std::int64_t grown = 2 * options.padding - kernel + 1;
  REQUIRE(y.shape() == Shape{input.extents()[0], height + grown, width + grown, options.filters});
  const std::vector<T> ys = to_host(y), xs = to_host(x);
  const std::vector<T> weights = to_host(conv.weight.value), biases = to_host(conv.bias.value);
  std::size_t at = 0;
  double worst = 0;
  for (std::int64_t n = 0; n < input.extents()[0]; ++n)
    for (std::int64_t i = 0; i < height + grown; ++i)
      for (std::int64_t j = 0; j < width + grown; ++j)
        for (std::int64_t o = 0; o < options.filters; ++o, ++at) {
          double sum = biases[static_cast<std::size_t>(o)];
          for (std::int64_t k = 0; k < kernel; ++k)
            for (std::int64_t l = 0; l < kernel; ++l)
              for (std::int64_t c = 0; c < channels; ++c) {
                const std::int64_t row = i + k - options.padding, column = j + l - options.padding;
                if (row < 0 || row >= height || column < 0 || column >= width) continue;
                const std::int64_t weight = ((o * kernel + k) * kernel + l) * channels + c;
                const std::int64_t pixel = ((n * height + row) * width + column) * channels + c;
                sum += double{weights[static_cast<std::size_t>(weight)]} *
                       double{xs[static_cast<std::size_t>(pixel)]};
              }
          worst = std::max(worst, std::abs(double{ys[at]} - sum));
        }
  CHECK(worst < (sizeof(T) == sizeof(double) ? 1e-13 : 1e-5));
}

TEST_CASE("conv: every output is the sum that the definition says") {
  check_conv<double>({2, 6, 7, 3}, {.channels = 3, .filters = 2, .kernel = 5, .padding = 2});
  // Fewer and more pixels and filters than registers hold, and borders that leave pixels out.
  for (const std::int64_t width : {1, 6, 14, 15, 29}) {
    for (const std::int64_t filters : {1, 8, 16, 20, 32, 40}) {
      check_conv<float>({2, 3, width, 2},
                        {.channels = 2, .filters = filters, .kernel = 3, .padding = 1});
      check_conv<double>({1, 2, width, 1},
                         {.channels = 1, .filters = filters, .kernel = 1, .padding = 1});
    }
  }
}

TEST_CASE("max_pool: the largest of each window; its first place gets the derivative") {
  for (const std::int64_t channels : {1, 3, 16, 35}) {
    CAPTURE(channels);
    const Tensor x = input({2, 5, 4, channels});
    Saved saved;
    MaxPool pool(2);
    const Tensor y = pool.forward(x, saved);
    REQUIRE(y.shape() == Shape{2, 2, 2, channels});
    const std::vector<float> ys = to_host(y), xs = to_host(x);
    for (std::int64_t i = 0; i < y.size(); ++i) {
      const std::int64_t c = i % channels, column = i / channels % 2, row = i / channels / 2 % 2;
      const std::int64_t first = ((i / channels / 4 * 5 + 2 * row) * 4 + 2 * column) * channels + c;
      const float* const at = xs.data() + first;
      CHECK(ys[static_cast<std::size_t>(i)] ==
            std::max(std::max(at[0], at[channels]), std::max(at[4 * channels], at[5 * channels])));
    }
  }
  Saved saved;
  MaxPool pool(2);
  pool.forward(full({1, 2, 2, 1}, 3), saved);
  CHECK(to_host(pool.backward(full({1, 1, 1, 1}, 5), saved)) == std::vector<float>{5, 0, 0, 0});
}

TEST_CASE("batch_norm: normalizes the batch in training, and with running statistics afterwards") {
  BatchNorm norm(2, {.epsilon = 0, .momentum = 0.5});
  Tensor x({2, 2});
  copy(x, from_host({1.F, 10.F, 3.F, 30.F}));
  Saved saved;
  CHECK(to_host(norm.forward(x, saved)) == std::vector<float>{-1, -1, 1, 1});
  CHECK(to_host(norm.running_mean.value)[1] == 10);            // 0 → 20, halfway
  CHECK(to_host(norm.running_var.value)[0] == (1 + 2) / 2.F);  // 1 → unbiased 2, halfway
  norm.running_mean.value = from_host({1.F, 2.F});
  norm.running_var.value = from_host({4.F, 1.F});
  Saved evaluation(kEvaluate);
  CHECK(to_host(norm.forward(x, evaluation)) == std::vector<float>{0, 8, 1, 28});
  CHECK(to_host(norm.running_mean.value)[1] == 2);
}

/// Two ranks, as threads, that add up what each brings.
class Meeting {
 public:
  void add_up(std::size_t rank, TensorOf<double>& sums) {
    brought_[rank] = sums;
    both_here_.arrive_and_wait();
    sums += brought_[1 - rank];
    both_here_.arrive_and_wait();
  }

 private:
  std::barrier<> both_here_{2};
  std::array<TensorOf<double>, 2> brought_;
};

TEST_CASE("batch_norm: two parts whose sums are combined are one batch, in both directions") {
  const auto x = random_tensor<double>({8, 3}, 1, Random(1));
  const auto dy = random_tensor<double>({8, 3}, 1, Random(2));
  BatchNormOf<double> whole(3);
  SavedOf<double> saved;
  const auto y = whole.forward(x, saved);
  const auto dx = whole.backward(dy, saved);

  // Parts of 3 and 5 rows: a mean of means would be wrong.
  const auto part = [](const TensorOf<double>& of, std::size_t rank) {
    TensorOf<double> piece({rank == 0 ? 3 : 5, 3});
    copy(piece, Slice(of).sub(rank == 0 ? 0 : 9, rank == 0 ? 9 : 24));
    return piece;
  };
  Meeting meeting;
  std::array<BatchNormOf<double>, 2> norms{BatchNormOf<double>(3), BatchNormOf<double>(3)};
  std::array<TensorOf<double>, 2> ys, dxs;
  const auto run = [&](std::size_t rank) {
    norms[rank].combine = [&, rank](TensorOf<double>& sums) { meeting.add_up(rank, sums); };
    SavedOf<double> mine;
    ys[rank] = norms[rank].forward(part(x, rank), mine);
    dxs[rank] = norms[rank].backward(part(dy, rank), mine);
  };
  std::jthread other(run, 1);
  run(0);
  other.join();
  for (const std::size_t rank : {0, 1}) {
    const auto expected_y = to_host(part(y, rank)), expected_dx = to_host(part(dx, rank));
    const auto its_y = to_host(ys[rank]), its_dx = to_host(dxs[rank]);
    for (std::size_t i = 0; i < expected_y.size(); ++i) {
      CHECK(its_y[i] == doctest::Approx(expected_y[i]));
      CHECK(its_dx[i] == doctest::Approx(expected_dx[i]));
    }
    CHECK(to_host(norms[rank].running_var.value)[2] ==
          doctest::Approx(to_host(whole.running_var.value)[2]));
  }
  const auto first = to_host(norms[0].gamma.gradient), second = to_host(norms[1].gamma.gradient);
  for (std::size_t c = 0; c < 3; ++c)
    CHECK(first[c] + second[c] == doctest::Approx(to_host(whole.gamma.gradient)[c]));
}

TEST_CASE("dropout: drops about its rate, keeps the mean, and is off in evaluation") {
  Dropout dropout(.25, Random(1));
  Saved saved;
  const Tensor y = dropout.forward(full({10, 1000}, 3), saved);
  std::int64_t dropped = 0;
  for (const float element : to_host(y)) {
    dropped += element == 0 ? 1 : 0;
    CHECK((element == 0 || element == 4));
  }
  CHECK(dropped == doctest::Approx(2500).epsilon(.06));
  Saved evaluation(kEvaluate);
  CHECK(to_host(dropout.forward(full({2, 3}, 3), evaluation)) == std::vector<float>(6, 3));
}

TEST_CASE("dropout: a sample loses the same elements on one rank and on many, others next step") {
  Dropout dropout(.5, Random(1));
  const auto mask = [&](std::vector<std::int64_t> samples, std::int64_t step) {
    Saved saved(Pass{.step = step, .samples = samples});
    return to_host(
        dropout.forward(full({static_cast<std::int64_t>(samples.size()), 64}, 1), saved));
  };
  const std::vector<float> whole = mask({3, 8, 5, 1}, 7);
  for (const int rank : {0, 1}) {
    const std::vector<float> part = rank == 0 ? mask({3, 5}, 7) : mask({8, 1}, 7);
    for (std::size_t i = 0; i < part.size(); ++i)
      CHECK(part[i] == whole[(i / 64 * 2 + static_cast<std::size_t>(rank)) * 64 + i % 64]);
  }
  CHECK(mask({3}, 7) != mask({3}, 8));
  CHECK(mask({3}, 7) != mask({4}, 7));
  CHECK(mask({}, 0).empty());
}

TEST_CASE("attention: what lies in the padding changes nothing") {
  Attention attention(2);
  const Pass pass{.lengths = {3, 5}};
  Tensor x = input({2, 5, 2 * 3 * 4});
  Saved saved(pass);
  const Tensor y = attention.forward(x, saved);
  copy(Slice(x).sub(3 * 24, 5 * 24), full(2 * 24, 100));  // tokens 3 and 4 of sample 0
  Saved other(pass);
  const std::vector<float> ys = to_host(y), zs = to_host(attention.forward(x, other));
  for (std::size_t i = 0; i < 3 * 8; ++i) CHECK(ys[i] == zs[i]);
  for (std::size_t i = 5 * 8; i < 10 * 8; ++i) CHECK(ys[i] == zs[i]);
}

TEST_CASE("attention: heads do not see each other, so a rank may run some of them") {
  const Tensor x = input({1, 3, 2 * 3 * 4});
  Tensor second({1, 3, 3 * 4});
  for (std::int64_t token = 0; token < 3; ++token)
    copy(Slice(second).sub(token * 12, token * 12 + 12),
         Slice(x).sub(token * 24 + 12, token * 24 + 24));
  Saved saved;
  const std::vector<float> both = to_host(Attention(2).forward(x, saved));
  const std::vector<float> alone = to_host(Attention(1).forward(second, saved));
  for (std::size_t i = 0; i < 12; ++i) CHECK(alone[i] == both[i / 4 * 8 + 4 + i % 4]);
}

/// One of each, with an input for a batch of n.
struct Example {
  std::string name;
  std::shared_ptr<Layer> layer;
  Shape x;
};
std::vector<Example> examples(std::int64_t n) {
  return {{"linear", std::make_shared<Linear>(4, 3, Random(1)), {n, 4}},
          {"relu", std::make_shared<Relu>(), {n, 4}},
          {"gelu", std::make_shared<Gelu>(), {n, 4}},
          {"conv", std::make_shared<Conv>(ConvOptions{.channels = 2}, Random(1)), {n, 6, 6, 2}},
          {"max_pool", std::make_shared<MaxPool>(2), {n, 6, 6, 2}},
          {"batch_norm", std::make_shared<BatchNorm>(4), {n, 4}},
          {"layer_norm", std::make_shared<LayerNorm>(4), {n, 4}},
          {"dropout", std::make_shared<Dropout>(.5, Random(1)), {n, 4}},
          {"attention", std::make_shared<Attention>(2), {n, 3, 12}},
          {"embedding", std::make_shared<Embedding>(EmbeddingOptions{1, 3, 2}, Random(1)), {n, 3}},
          {"first_token", std::make_shared<FirstToken>(), {n, 3, 2}}};
}

TEST_CASE("a batch without samples is a batch") {
  for (const Example& example : examples(0)) {
    if (!testing::wants_row(example.name)) continue;
    CAPTURE(example.name);
    Saved saved;
    const Tensor y = example.layer->forward(Tensor(example.x), saved);
    CHECK(y.size() == 0);
    CHECK(y.shape().extents()[0] == 0);
    example.layer->backward(y, saved);
    for (const Parameter* parameter : example.layer->parameters()) {
      for (const float g : to_host(parameter->gradient)) CHECK(g == 0);
      for (const float w : to_host(parameter->value)) CHECK(std::isfinite(w));
    }
    for (const NamedTensor* tensor : example.layer->statistics())
      for (const float s : to_host(tensor->value)) CHECK(std::isfinite(s));
  }
}

TEST_CASE("evaluation saves nothing, and backward after it is refused") {
  for (const Example& example : examples(2)) {
    if (!testing::wants_row(example.name)) continue;
    CAPTURE(example.name);
    Saved saved(kEvaluate);
    const Tensor y = example.layer->forward(zeros(example.x), saved);
    CHECK(saved.empty());
    CHECK(saved.bytes() == 0);
    if (example.name == "dropout") continue;  // never saves anything
    CHECK_THROWS_AS(example.layer->backward(y, saved), InvalidArgument);
  }
}

TEST_CASE("gradients add up, and batches under way at once do not disturb each other") {
  for (const Example& example : examples(2)) {
    if (!testing::wants_row(example.name)) continue;
    CAPTURE(example.name);
    Layer& layer = *example.layer;
    const bool of_tokens = example.name == "embedding";
    const Tensor a = of_tokens ? zeros(example.x) : input(example.x, 1);
    const Tensor b = of_tokens ? zeros(example.x) : input(example.x, 2);
    Saved of_a, of_b;
    const Tensor ya = layer.forward(a, of_a);
    const Tensor dxa = layer.backward(ya, of_a);
    std::vector<std::vector<float>> first;
    for (Parameter* parameter : layer.parameters()) {
      first.push_back(to_host(parameter->gradient));
      parameter->gradient = {};
    }
    const Tensor yb = layer.forward(b, of_b);
    const Tensor dxb = layer.backward(yb, of_b);
    std::size_t i = 0;
    for (Parameter* parameter : layer.parameters()) {
      const std::vector<float> second = to_host(parameter->gradient);
      for (std::size_t k = 0; k < second.size(); ++k) first[i][k] += second[k];
      ++i;
      parameter->gradient = {};
    }

    layer.forward(a, of_a);  // both forward, then both backward: the first one first
    layer.forward(b, of_b);
    CHECK(to_host(layer.backward(ya, of_a)) == to_host(dxa));
    CHECK(to_host(layer.backward(yb, of_b)) == to_host(dxb));
    i = 0;
    for (Parameter* parameter : layer.parameters()) {
      const std::vector<float> sum = to_host(parameter->gradient);
      for (std::size_t k = 0; k < sum.size(); ++k)
        CHECK(sum[k] == doctest::Approx(first[i][k]).epsilon(1e-4));
      ++i;
    }
  }
}

TEST_CASE("the first layer of a model may leave out dx, and its parameters' gradients stay") {
  Linear linear(4, 3, Random(1)), first(4, 3, Random(1));
  Conv conv({.channels = 2}, Random(1)), first_conv({.channels = 2}, Random(1));
  first.omit_input_gradient();
  first_conv.omit_input_gradient();
  const auto compare = [](Layer& a, Layer& b, const Shape& shape) {
    Saved saved;
    const Tensor y = a.forward(input(shape), saved);
    CHECK(a.backward(y, saved).shape() == shape);
    b.forward(input(shape), saved);
    CHECK(b.backward(y, saved).empty());
    for (std::size_t i = 0; i < 2; ++i)
      CHECK(to_host(a.parameters()[i]->gradient) == to_host(b.parameters()[i]->gradient));
  };
  compare(linear, first, {5, 4});
  compare(conv, first_conv, {2, 6, 6, 2});
}

}  // namespace
}  // namespace rankbox
