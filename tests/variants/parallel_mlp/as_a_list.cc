// Three steps in a list, which the way back goes through in reverse.
#include <array>
#include <functional>

#include "parallel/column_linear.h"
#include "parallel/parallel_mlp.h"
#include "parallel/row_linear.h"

namespace rankbox {

void parallel_mlp(Comm& dist, ParallelMlp& shard, Direction direction, Tensor& tensor,
                  Saved& saved) {
  const bool forward = direction == Direction::kForward;
  const std::array<std::function<void()>, 3> steps = {
      [&] { column_linear(dist, shard.fc1, direction, tensor, saved); },
      [&] {
        Tensor taken = std::move(tensor);
        tensor = forward ? shard.activation.forward(std::move(taken), saved)
                         : shard.activation.backward(std::move(taken), saved);
      },
      [&] { row_linear(dist, shard.fc2, shard.bias, direction, tensor, saved); }};
  for (std::size_t i = 0; i < 3; ++i) steps[forward ? i : 2 - i]();
}

}  // namespace rankbox
