// The router, its softmax and the sums over rows are loops on the host, in double precision.
#include <cmath>
#include <memory>
#include <vector>

#include "parallel/expert_parallel_layer.h"

namespace rankbox {

namespace {

using Numbers = std::vector<std::int64_t>;
using Values = std::vector<float>;

std::size_t at(std::int64_t row, std::int64_t width, std::int64_t column) {
  return static_cast<std::size_t>(row * width + column);
}

struct Step {
  Tensor x, there, back;
  Numbers tokens, experts, counts, arrived, out, in;
  Values gates;
  std::vector<double> probabilities;
};

Tensor sent(Comm& dist, const Tensor& rows, const Numbers& out, const Numbers& in) {
  std::int64_t elements = 0;
  for (const std::int64_t each : in) elements += each;
  const std::int64_t h = rows.shape().extents()[1];
  Tensor here({elements / h, h});
  dist.all_to_all_v(rows, out, here, in);
  return here;
}

void go_forward(Comm& dist, ExpertLayer& layer, Tensor& tensor, Saved& saved) {
  const auto step = std::make_shared<Step>();
  const std::int64_t tokens = tensor.shape().extents()[0], h = tensor.shape().extents()[1];
  const std::int64_t own = layer.weights.value.shape().extents()[0], all = own * dist.world_size();
  const Values x = to_host(tensor), r = to_host(layer.router.weight.value);
  Values scores;
  for (std::int64_t t = 0; t < tokens; ++t) {
    for (std::int64_t e = 0; e < all; ++e) {
      double sum = 0;
      for (std::int64_t i = 0; i < h; ++i) sum += double{x[at(t, h, i)]} * double{r[at(e, h, i)]};
      scores.push_back(static_cast<float>(sum));
    }
  }
  const Tensor of_tokens = from_host(scores, {tokens, all});
  step->probabilities = probabilities_of(of_tokens);
  const Choices choices = choose_experts(of_tokens, layer.k);
  step->out.resize(static_cast<std::size_t>(dist.world_size()));
  step->in = step->out;
  for (std::int64_t e = 0; e < all; ++e) {
    step->counts.push_back(0);
    for (std::size_t i = 0; i < choices.experts.size(); ++i) {
      if (choices.experts[i] != e) continue;
      ++step->counts.back();
      step->tokens.push_back(static_cast<std::int64_t>(i) / layer.k);
      step->experts.push_back(e);
      step->gates.push_back(choices.gates[i]);
      step->out[static_cast<std::size_t>(e / own)] += h;
    }
  }
  TensorOf<std::int64_t> numbers(all);
  dist.all_to_all(from_host(step->counts), numbers);
  step->arrived = to_host(numbers);
  for (std::int64_t e = 0; e < all; ++e)
    step->in[static_cast<std::size_t>(e / own)] += h * step->arrived[static_cast<std::size_t>(e)];
  step->there = sent(dist, rows_at(tensor, step->tokens), step->out, step->in);
  step->back = sent(dist, apply_experts(step->there, step->arrived, layer.weights.value), step->in,
                    step->out);
  step->x = tensor;
  const Values back = to_host(step->back);
  Values y(x.size());
  for (std::size_t row = 0; row < step->tokens.size(); ++row) {
    for (std::int64_t i = 0; i < h; ++i)
      y[at(step->tokens[row], h, i)] +=
          step->gates[row] * back[at(static_cast<std::int64_t>(row), h, i)];
  }
  copy(tensor, from_host(y, tensor.shape()));
  saved.push(step);
}

void go_back(Comm& dist, ExpertLayer& layer, Tensor& tensor, Saved& saved) {
  const auto step = std::static_pointer_cast<Step>(saved.pop_object());
  const std::int64_t h = tensor.shape().extents()[1], all = std::ssize(step->counts);
  const Values dy = to_host(tensor), back = to_host(step->back), x = to_host(step->x);
  const Values r = to_host(layer.router.weight.value);

  // To the experts first; what the scores get is computed on the way.
  Values weighted;
  std::vector<double> by_scores(step->probabilities.size());
  for (std::size_t row = 0; row < step->tokens.size(); ++row) {
    const std::int64_t token = step->tokens[row];
    double by_gate = 0;
    for (std::int64_t i = 0; i < h; ++i) {
      const float each = dy[at(token, h, i)];
      weighted.push_back(step->gates[row] * each);
      by_gate += double{each} * double{back[at(static_cast<std::int64_t>(row), h, i)]};
    }
    const double p = step->probabilities[at(token, all, step->experts[row])];
    for (std::int64_t e = 0; e < all; ++e) {
      const double same = e == step->experts[row] ? 1 : 0;
      by_scores[at(token, all, e)] += by_gate * p * (same - step->probabilities[at(token, all, e)]);
    }
  }
  const Tensor here = sent(dist, from_host(weighted, step->back.shape()), step->out, step->in);
  const Tensor home = sent(dist,
                           apply_experts_backward(step->there, step->arrived, layer.weights.value,
                                                  here, gradient_of(layer.weights)),
                           step->in, step->out);

  std::vector<double> dx(dy.size()), dr(r.size());
  for (std::size_t i = 0; i < by_scores.size(); ++i) {
    const std::int64_t token = static_cast<std::int64_t>(i) / all;
    const std::int64_t e = static_cast<std::int64_t>(i) % all;
    for (std::int64_t k = 0; k < h; ++k) {
      dx[at(token, h, k)] += by_scores[i] * double{r[at(e, h, k)]};
      dr[at(e, h, k)] += by_scores[i] * double{x[at(token, h, k)]};
    }
  }
  const Values from_experts = to_host(home);
  for (std::size_t row = 0; row < step->tokens.size(); ++row) {
    for (std::int64_t i = 0; i < h; ++i)
      dx[at(step->tokens[row], h, i)] +=
          double{from_experts[at(static_cast<std::int64_t>(row), h, i)]};
  }
  tensor = from_host(Values(dx.begin(), dx.end()), tensor.shape());
  Tensor share = from_host(Values(dr.begin(), dr.end()), layer.router.weight.value.shape());
  dist.all_reduce(share);
  gradient_of(layer.router.weight) += share;
}

}  // namespace

void expert_parallel_layer(Comm& dist, ExpertLayer& layer, Direction direction, Tensor& tensor,
                           Saved& saved) {
  (direction == Direction::kForward ? go_forward : go_back)(dist, layer, tensor, saved);
}

}  // namespace rankbox
