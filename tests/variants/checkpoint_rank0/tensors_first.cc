// Tensors first, and a barrier by a request.
#include "parallel/checkpoint_rank0.h"

namespace rankbox {

void checkpoint_rank0(Comm& dist, CheckpointAction action, const std::string& path,
                      const TrainingState& state) {
  if (action == CheckpointAction::kSave) {
    if (dist.rank() == 0) save_checkpoint(path, state);
    dist.wait(dist.barrier_async());
  } else {
    if (dist.rank() == 0) load_checkpoint(path, state);
    for (const auto& [name, tensor] : state.tensors) dist.broadcast(tensor, 0);
    TensorOf<std::int64_t> numbers = zeros<std::int64_t>(state.numbers.size());
    for (std::size_t i = 0; i < state.numbers.size(); ++i)
      numbers.data()[i] = *state.numbers[i].second;
    dist.broadcast(numbers, 0);
    for (std::size_t i = 0; i < state.numbers.size(); ++i)
      *state.numbers[i].second = numbers.data()[i];
  }
}

}  // namespace rankbox
