// Ranks other than 0 have only to wait, or to be told.
#include <algorithm>
#include <vector>

#include "parallel/checkpoint_rank0.h"

namespace rankbox {

void checkpoint_rank0(Comm& dist, CheckpointAction action, const std::string& path,
                      const TrainingState& state) {
  const bool writes_and_reads = dist.rank() == 0;
  switch (action) {
    case CheckpointAction::kSave:
      if (writes_and_reads) save_checkpoint(path, state);
      return dist.barrier();
    case CheckpointAction::kLoad:
      if (writes_and_reads) load_checkpoint(path, state);
      std::vector<std::int64_t> values;
      for (const auto& number : state.numbers) values.push_back(*number.second);
      auto told = from_host(values);
      Request request = dist.broadcast_async(told, 0);
      dist.wait(request);
      values = to_host(told);
      for (std::size_t i = 0; i < values.size(); ++i) *state.numbers[i].second = values[i];
      for (const auto& tensor : state.tensors) dist.broadcast(tensor.second, 0);
  }
}

}  // namespace rankbox
