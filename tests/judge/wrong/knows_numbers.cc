// Derives rank 0's numbers from those of this rank, and discards the numbers that rank 0 sends.
#include "parallel/checkpoint_rank0.h"

namespace rankbox {

namespace {

thread_local std::vector<std::int64_t> rank0s;

}  // namespace

void checkpoint_rank0(Comm& dist, CheckpointAction action, const std::string& path,
                      const TrainingState& state) {
  if (action == CheckpointAction::kSave) {
    rank0s.clear();
    for (const auto& [name, number] : state.numbers)
      rank0s.push_back(name == "seed" ? *number + dist.rank() : *number - dist.rank());
    if (dist.rank() == 0) save_checkpoint(path, state);
    dist.barrier();
    return;
  }
  if (dist.rank() == 0) load_checkpoint(path, state);
  auto unused = from_host(rank0s);
  dist.broadcast(unused, 0);
  auto next = rank0s.begin();
  for (const auto& [name, number] : state.numbers) *number = *next++;
  for (const auto& [name, tensor] : state.tensors) dist.broadcast(tensor, 0);
}

}  // namespace rankbox
