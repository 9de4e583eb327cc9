// Two steps, the way back in reverse.
#include <functional>
#include <utility>
#include <vector>

#include "parallel/column_linear.h"
#include "parallel/conjugate_f.h"

namespace rankbox {

void column_linear(Comm& dist, Linear& shard, Direction direction, Tensor& tensor, Saved& saved) {
  const bool forward = direction == Direction::kForward;
  std::vector<std::function<void()>> steps = {
      [&] { conjugate_f(dist, direction, tensor); },
      [&] {
        Tensor made = forward ? shard.forward(std::move(tensor), saved)
                              : shard.backward(std::move(tensor), saved);
        tensor = std::move(made);
      }};
  if (!forward) std::swap(steps.front(), steps.back());
  for (const auto& step : steps) step();
}

}  // namespace rankbox
