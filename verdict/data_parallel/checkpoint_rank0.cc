#include "verdict/data_parallel/checkpoint_rank0.h"

#include <filesystem>
#include <numeric>

#include <fmt/format.h>

#include "files/temporary_folder.h"
#include "verdict/compare.h"
#include "verdict/data_parallel/parameters.h"
#include "verdict/inputs.h"
#include "verdict/tables.h"

namespace rankbox {

namespace {

/// All that a rank trains with: two numbers, three tensors.
struct Trained {
  std::int64_t epoch = 0;
  std::int64_t step = 0;
  std::vector<Tensor> tensors;
};

Trained trained_by(int rank, std::int64_t count) {
  Trained trained{(std::int64_t{1} << 40) + rank, 1000 + rank, {}};
  for (const std::int64_t size : parameter_sizes(count))
    trained.tensors.push_back(elements_of(rank, size));
  return trained;
}

TrainingState state_of(Trained& trained) {
  TrainingState state;
  state.model = "a model of three tensors";
  state.numbers = {{"epoch", &trained.epoch}, {"step", &trained.step}};
  for (std::size_t k = 0; k < trained.tensors.size(); ++k)
    state.tensors.emplace_back(fmt::format("tensor{}", k), trained.tensors[k]);
  return state;
}

std::optional<Difference> compare_number(const char* what, std::int64_t is,
                                         std::int64_t should_be) {
  if (is == should_be) return std::nullopt;
  return Difference{
      what, -1, fmt::format("{}", should_be), fmt::format("{}", is),
      "numbers are part of the state: without them the run that goes on is another one"};
}

/// What rank 0 had when it was saved.
std::optional<Difference> compare_restored(const Trained& actual, std::int64_t count,
                                           int world_size) {
  const Trained saved = trained_by(0, count);
  if (auto wrong = compare_number("epoch", actual.epoch, saved.epoch)) return wrong;
  if (auto wrong = compare_number("step", actual.step, saved.step)) return wrong;
  for (std::size_t k = 0; k < saved.tensors.size(); ++k) {
    const std::string name = fmt::format("tensor{}", k);
    if (auto wrong = compare_moved(name.c_str(), actual.tensors[k], saved.tensors[k].size(),
                                   world_size, [](std::int64_t i) { return element(0, i); }))
      return wrong;
  }
  return std::nullopt;
}

Trained forgotten(std::int64_t count) {
  Trained nothing{-1, -1, {}};
  for (const std::int64_t size : parameter_sizes(count)) nothing.tensors.push_back(poison(size));
  return nothing;
}

}  // namespace

std::vector<Case> CheckpointRank0::cases() const {
  std::vector<Case> cases;
  for (const int world_size : world_sizes()) {
    for (const std::int64_t count : {0, 5}) {
      Case example;
      example.world_size = world_size;
      example.count = count;
      cases.push_back(example);
    }
  }
  return cases;
}

std::optional<Difference> CheckpointRank0::run(Comm& dist, const Case& example) const {
  std::optional<TemporaryFolder> disk;  // rank 0's; the others have none
  if (dist.rank() == 0) disk.emplace();
  const std::string path =
      disk ? disk->path("run.ckpt") : fmt::format("/no disk of rank {}/run.ckpt", dist.rank());

  Trained mine = trained_by(dist.rank(), *example.count);
  function_(dist, CheckpointAction::kSave, path, state_of(mine));
  if (disk && !std::filesystem::exists(path)) {
    return Difference{"the checkpoint", -1, "a file", "none", "rank 0 has to save it"};
  }

  Trained again = forgotten(*example.count);
  function_(dist, CheckpointAction::kLoad, path, state_of(again));
  return compare_restored(again, *example.count, dist.world_size());
}

Cost CheckpointRank0::cost(const Case& example) const {
  const int p = example.world_size;
  const Cost save = native(CollectiveKind::kBarrier, p, 0);
  std::vector<std::int64_t> sizes = parameter_sizes(*example.count);
  sizes.push_back(4);  // two numbers of 8 bytes, in floats
  const Cost load = native(CollectiveKind::kBroadcast, p, sizes);
  return {save.steps + load.steps, save.bytes + load.bytes, save.reduced + load.reduced};
}

}  // namespace rankbox
