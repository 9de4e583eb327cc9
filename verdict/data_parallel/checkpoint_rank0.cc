// Judges checkpoint_rank0: one rank writes, and all ranks resume from its checkpoint.
#include "parallel/checkpoint_rank0.h"

#include <filesystem>
#include <numeric>

#include <fmt/format.h>

#include "files/temporary_folder.h"
#include "verdict/case_lists.h"
#include "verdict/compare.h"
#include "verdict/data_parallel/families.h"
#include "verdict/inputs.h"
#include "verdict/training/native_calls.h"
#include "verdict/training/parameters.h"

namespace rankbox {

namespace {

using Function = void (*)(Comm& dist, CheckpointAction action, const std::string& path,
                          const TrainingState& state);

/// The training state: two numbers and three tensors.
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

/// Compares with rank 0's state when it was saved.
std::optional<Difference> compare_restored(const Trained& actual, std::int64_t count,
                                           int world_size) {
  const Trained saved = trained_by(0, count);
  const char* const hint = "numbers are part of the state: without them the resumed run differs";
  if (auto wrong = compare_number("epoch", actual.epoch, saved.epoch, hint)) return wrong;
  if (auto wrong = compare_number("step", actual.step, saved.step, hint)) return wrong;
  for (std::size_t k = 0; k < saved.tensors.size(); ++k) {
    if (auto wrong =
            compare_moved(fmt::format("tensor{}", k), actual.tensors[k], saved.tensors[k].size(),
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

std::vector<Case> cases() { return cases_with_each({{.count = 0}, {.count = 5}}); }

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  std::optional<TemporaryFolder> disk;  // on rank 0 only
  if (dist.rank() == 0) disk.emplace();
  const std::string path =
      disk ? disk->path("run.ckpt") : fmt::format("/no disk of rank {}/run.ckpt", dist.rank());

  Trained mine = trained_by(dist.rank(), *example.count);
  function(dist, CheckpointAction::kSave, path, state_of(mine));
  if (disk && !std::filesystem::exists(path)) {
    return Difference{"the checkpoint", -1, "a file", "none", "rank 0 has to save it"};
  }

  Trained again = forgotten(*example.count);
  function(dist, CheckpointAction::kLoad, path, state_of(again));
  return compare_restored(again, *example.count, dist.world_size());
}

NativeCalls calls(const Case& example) {
  const NativeCalls save = {{CollectiveKind::kBarrier}};
  std::vector<std::int64_t> sizes = parameter_sizes(*example.count);
  sizes.push_back(4);  // two numbers of 8 bytes, in floats
  return save + calls_of(CollectiveKind::kBroadcast, sizes);
}

Subject subject() {
  Subject made = subject_with_calls(cases, calls);
  made.natives = Natives::kBarrierAndOthers;
  return made;
}

}  // namespace

Family family::checkpoint_rank0() {
  return make_family<Function>(
      "checkpoint_rank0",
      "(Comm& dist, CheckpointAction action, const std::string& path, const TrainingState& state)",
      subject(), run);
}

}  // namespace rankbox
