// Rank 0 reads into other numbers and tensors; all ranks copy what was sent.
#include <vector>

#include "parallel/checkpoint_rank0.h"

namespace rankbox {

void checkpoint_rank0(Comm& dist, CheckpointAction action, const std::string& path,
                      const TrainingState& state) {
  if (action == CheckpointAction::kSave) {
    if (dist.rank() == 0) save_checkpoint(path, state);
    return dist.barrier();
  }
  std::vector<std::int64_t> numbers(state.numbers.size());
  std::vector<Tensor> tensors;
  for (const auto& [name, tensor] : state.tensors) tensors.push_back(zeros(tensor.size()));
  if (dist.rank() == 0) {
    TrainingState read{.model = state.model};
    for (std::size_t k = 0; k < numbers.size(); ++k)
      read.numbers.emplace_back(state.numbers[k].first, &numbers[k]);
    for (std::size_t k = 0; k < tensors.size(); ++k)
      read.tensors.emplace_back(state.tensors[k].first, tensors[k]);
    load_checkpoint(path, read);
  }
  auto sent = from_host(numbers);
  dist.broadcast(sent, 0);
  numbers = to_host(sent);
  for (std::size_t k = 0; k < numbers.size(); ++k) *state.numbers[k].second = numbers[k];
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    dist.broadcast(tensors[k], 0);
    copy(state.tensors[k].second, tensors[k]);
  }
}

}  // namespace rankbox
