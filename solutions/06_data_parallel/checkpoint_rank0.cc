#include "parallel/checkpoint_rank0.h"

namespace rankbox {

void checkpoint_rank0(Comm& dist, CheckpointAction action, const std::string& path,
                      const TrainingState& state) {
  if (action == CheckpointAction::kSave) {
    if (dist.rank() == 0) save_checkpoint(path, state);
    dist.barrier();
    return;
  }
  if (dist.rank() == 0) load_checkpoint(path, state);

  TensorOf<std::int64_t> numbers = zeros<std::int64_t>(state.numbers.size());
  std::int64_t* next = numbers.data();
  for (const auto& [name, number] : state.numbers) *next++ = *number;
  dist.broadcast(numbers, 0);
  next = numbers.data();
  for (const auto& [name, number] : state.numbers) *number = *next++;

  for (const auto& [name, tensor] : state.tensors) dist.broadcast(tensor, 0);
}

}  // namespace rankbox
