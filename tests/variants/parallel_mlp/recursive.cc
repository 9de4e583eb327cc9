// Three layers, of which a call takes the first or the last.
#include <utility>

#include "parallel/conjugate_f.h"
#include "parallel/conjugate_g.h"
#include "parallel/layer_shards.h"
#include "parallel/parallel_mlp.h"

namespace rankbox {

namespace {

void pass(Layer* const* layers, int count, Direction direction, Tensor& tensor, Saved& saved) {
  if (count == 0) return;
  if (direction == Direction::kForward) {
    tensor = layers[0]->forward(std::move(tensor), saved);
    pass(layers + 1, count - 1, direction, tensor, saved);
  } else {
    tensor = layers[count - 1]->backward(std::move(tensor), saved);
    pass(layers, count - 1, direction, tensor, saved);
  }
}

}  // namespace

void parallel_mlp(Comm& dist, ParallelMlp& shard, Direction direction, Tensor& tensor,
                  Saved& saved) {
  Layer* const layers[] = {&shard.fc1, &shard.activation, &shard.fc2};
  if (direction == Direction::kBackward) add_bias_gradient(tensor, gradient_of(shard.bias));
  pass(layers, 3, direction, tensor, saved);
  conjugate_f(dist, direction, tensor);
  conjugate_g(dist, direction, tensor);
  if (direction == Direction::kForward) add_bias(tensor, shard.bias.value);
}

}  // namespace rankbox
