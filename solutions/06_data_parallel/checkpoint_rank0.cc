#include "parallel/checkpoint_rank0.h"

#include <vector>

namespace rankbox {

void checkpoint_rank0(Comm& dist, CheckpointAction action, const std::string& path,
                      const TrainingState& state) {
  if (action == CheckpointAction::kSave) {
    if (dist.rank() == 0) save_checkpoint(path, state);
    dist.barrier();
    return;
  }
  if (dist.rank() == 0) load_checkpoint(path, state);

  std::vector<std::int64_t> values;
  for (const auto& [name, number] : state.numbers) values.push_back(*number);
  auto numbers = from_host(values);
  dist.broadcast(numbers, 0);
  values = to_host(numbers);
  auto next = values.begin();
  for (const auto& [name, number] : state.numbers) *number = *next++;

  for (const auto& [name, tensor] : state.tensors) dist.broadcast(tensor, 0);
}

}  // namespace rankbox
