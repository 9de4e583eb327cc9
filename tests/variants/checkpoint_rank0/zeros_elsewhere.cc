// Ranks without the file send only zeros.
#include <algorithm>
#include <iterator>
#include <vector>

#include "parallel/checkpoint_rank0.h"

namespace rankbox {

void checkpoint_rank0(Comm& dist, CheckpointAction action, const std::string& path,
                      const TrainingState& state) {
  constexpr int kWriter = 0;
  const bool has_disk = dist.rank() == kWriter;
  const bool saves = action == CheckpointAction::kSave;
  if (has_disk && saves) save_checkpoint(path, state);
  if (saves) return dist.barrier();

  std::vector<std::int64_t> values(state.numbers.size());
  if (has_disk) {
    load_checkpoint(path, state);
    std::ranges::transform(state.numbers, values.begin(),
                           [](const auto& number) { return *number.second; });
  }
  auto numbers = from_host(values);
  dist.wait(dist.broadcast_async(numbers, kWriter));
  std::size_t next = 0;
  for (const std::int64_t value : to_host(numbers)) *state.numbers[next++].second = value;
  for (auto tensor = state.tensors.begin(); tensor != state.tensors.end(); ++tensor)
    dist.wait(dist.broadcast_async(tensor->second, kWriter));
}

}  // namespace rankbox
