// Two functions; everything is under way before anything is waited for.
#include <vector>

#include "parallel/checkpoint_rank0.h"

namespace rankbox {

namespace {

void save(Comm& dist, const std::string& path, const TrainingState& state) {
  if (dist.rank() == 0) save_checkpoint(path, state);
  dist.barrier();
}

void load(Comm& dist, const std::string& path, const TrainingState& state) {
  if (dist.rank() == 0) load_checkpoint(path, state);
  TensorOf<std::int64_t> numbers(static_cast<std::int64_t>(state.numbers.size()));
  std::int64_t at = 0;
  for (const auto& number : state.numbers) {
    copy(Slice(numbers).sub(at, at + 1), full<std::int64_t>(1, *number.second));
    ++at;
  }
  std::vector<Request> requests = {dist.broadcast_async(numbers, 0)};
  for (const auto& tensor : state.tensors)
    requests.push_back(dist.broadcast_async(tensor.second, 0));
  dist.wait_all(requests);
  const std::vector<std::int64_t> values = to_host(numbers);
  for (std::size_t i = 0; i < values.size(); ++i) *state.numbers[i].second = values[i];
}

}  // namespace

void checkpoint_rank0(Comm& dist, CheckpointAction action, const std::string& path,
                      const TrainingState& state) {
  switch (action) {
    case CheckpointAction::kSave:
      return save(dist, path, state);
    case CheckpointAction::kLoad:
      return load(dist, path, state);
  }
}

}  // namespace rankbox
