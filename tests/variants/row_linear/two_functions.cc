// Each direction is a function, and the bias comes last in both.
#include <utility>

#include "parallel/conjugate_g.h"
#include "parallel/row_linear.h"

namespace rankbox {

namespace {

struct Layers {
  Comm& dist;
  Linear& shard;
  Parameter& bias;
  Saved& saved;

  Tensor forward(Tensor x) const {
    Tensor y = shard.forward(std::move(x), saved);
    conjugate_g(dist, Direction::kForward, y);
    add_bias(y, bias.value);
    return y;
  }
  Tensor backward(Tensor dy) const {
    conjugate_g(dist, Direction::kBackward, dy);
    Tensor dx = shard.backward(clone(dy), saved);
    add_bias_gradient(dy, gradient_of(bias));
    return dx;
  }
};

}  // namespace

void row_linear(Comm& dist, Linear& shard, Parameter& bias, Direction direction, Tensor& tensor,
                Saved& saved) {
  const Layers layers{dist, shard, bias, saved};
  tensor = direction == Direction::kForward ? layers.forward(std::move(tensor))
                                            : layers.backward(std::move(tensor));
}

}  // namespace rankbox
