// Judges checkpoint_rank0: one rank writes, and all ranks resume from its checkpoint.
#include "parallel/checkpoint_rank0.h"

#include <filesystem>
#include <numeric>

#include <fmt/format.h>

#include "comm/run_ranks.h"
#include "comm/thread_annotations.h"
#include "files/temporary_folder.h"
#include "judge/case_lists.h"
#include "judge/compare.h"
#include "judge/inputs.h"
#include "judge/salt.h"
#include "judge/training/native_calls.h"
#include "judge/training/parameters.h"
#include "judge/training_families.h"

namespace rankbox {

namespace {

using Function = decltype(&checkpoint_rank0);

/// The training state: some numbers and tensors.
struct Trained {
  std::vector<std::int64_t> numbers;
  std::vector<Tensor> tensors;
};

std::string name_of_number(std::size_t k) {
  const char* const names[] = {"epoch", "step", "seed"};
  return k < std::size(names) ? names[k] : fmt::format("number{}", k);
}

/// Three numbers, many, or two.
std::size_t numbers_of(std::int64_t count) { return count == 0 ? 3 : count == 1 ? 20 : 2; }

/// Three tensors, or as many as a deep model has with its optimizer's state.
std::vector<std::int64_t> sizes_of(std::int64_t count) {
  std::vector<std::int64_t> sizes = parameter_sizes(count);
  if (count == 1) sizes.resize(40, 2);
  return sizes;
}

Trained trained_by(int rank, std::int64_t count) {
  Trained trained;
  // Numbers may need more bits than a double has.
  const auto more = [&](const char* name) {
    return drawn(fmt::format("{} of rank {}", name, rank), 1, 1, 1'000'000);
  };
  trained.numbers = {(std::int64_t{1} << 62) + more("epoch") + rank, 999 + more("step") + rank,
                     -more("seed") - 10 - rank};
  for (std::int64_t k = 3; k < 20; ++k) trained.numbers.push_back(1'000 * k + rank);
  trained.numbers.resize(numbers_of(count));
  for (const std::int64_t size : sizes_of(count))
    trained.tensors.push_back(elements_of(rank, size, trained.tensors.size()));
  return trained;
}

TrainingState state_of(Trained& trained) {
  TrainingState state;
  state.model = "a small model";
  for (std::size_t k = 0; k < trained.numbers.size(); ++k)
    state.numbers.emplace_back(name_of_number(k), &trained.numbers[k]);
  for (std::size_t k = 0; k < trained.tensors.size(); ++k)
    state.tensors.emplace_back(fmt::format("tensor{}", k), trained.tensors[k]);
  return state;
}

/// Compares with rank 0's state when it was saved.
std::optional<Difference> compare_restored(const Trained& actual, std::int64_t count,
                                           int world_size) {
  const Trained saved = trained_by(0, count);
  for (std::size_t k = 0; k < saved.numbers.size(); ++k) {
    if (auto wrong = compare_number(name_of_number(k), actual.numbers[k], saved.numbers[k],
                                    {"numbers-are-state",
                                     "numbers are part of the state, all their 64 bits: without "
                                     "them the resumed run differs"}))
      return wrong;
  }
  for (std::size_t k = 0; k < saved.tensors.size(); ++k) {
    if (auto wrong = compare_moved(
            fmt::format("tensor{}", k), actual.tensors[k], saved.tensors[k].size(), world_size,
            [&](std::int64_t i) { return element(0, i, k); }, k))
      return wrong;
  }
  return std::nullopt;
}

Trained forgotten(std::int64_t count) {
  Trained nothing{std::vector<std::int64_t>(numbers_of(count), -1), {}};
  for (const std::int64_t size : sizes_of(count)) nothing.tensors.push_back(poison(size));
  return nothing;
}

std::vector<Case> cases() {
  return cases_with_each({{.count = 0}, {.count = 1}, {.count = drawn("count", 5, 2, 40)}});
}

/// Where rank 0 of this process saves: for the other ranks, which look there when the function has
/// returned.
struct SavedAt {
  Mutex lock;
  std::string path GUARDED_BY(lock);
};
SavedAt saved_at;

void set_path(const std::string& path) {
  const Lock guard(saved_at.lock);
  saved_at.path = path;
}

/// Returns whether rank 0's file exists. True where rank 0 is another process.
bool is_saved() {
  const Lock guard(saved_at.lock);
  return launch().processes > 0 || std::filesystem::exists(saved_at.path);
}

/// Compares the file of a save with the state, without the function.
std::optional<Difference> compare_file(const std::string& path, std::int64_t count) {
  Trained found = forgotten(count);
  try {
    load_checkpoint(path, state_of(found));
  } catch (const Error& error) {
    return Difference{"the checkpoint",
                      -1,
                      "one that load_checkpoint reads",
                      error.what(),
                      {"not-a-checkpoint", "save_checkpoint writes it"}};
  }
  auto wrong = compare_restored(found, count, 1);
  if (wrong) wrong->what += " in the file";
  return wrong;
}

/// Saves once more, which fails: that must leave the file of the last save.
std::optional<Difference> compare_kept(Function function, Comm& dist, const std::string& path,
                                       std::int64_t count) {
  // save_checkpoint cannot write beside the file: a folder is in its place.
  std::filesystem::create_directory(path + ".part");
  Trained later = trained_by(0, count);
  try {
    function(dist, CheckpointAction::kSave, path, state_of(later));
  } catch (const std::exception&) {
    // as it should
  }
  if (std::filesystem::exists(path)) return compare_file(path, count);
  return Difference{"the checkpoint, after another save has failed",
                    -1,
                    "the file of the last save",
                    "none",
                    {"old-file-until-new-is-whole",
                     "save_checkpoint replaces the old file when the new one is whole: remove "
                     "nothing before"}};
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  std::optional<TemporaryFolder> disk;  // on rank 0 only
  if (dist.rank() == 0) disk.emplace();
  // The path of another rank does not count.
  const std::string path = disk                   ? disk->path("run.ckpt")
                           : dist.rank() % 2 == 1 ? fmt::format("/no disk of rank {}", dist.rank())
                                                  : "";

  if (disk) set_path(path);
  Trained mine = trained_by(dist.rank(), *example.count);
  function(dist, CheckpointAction::kSave, path, state_of(mine));
  const bool was_saved = is_saved();

  // Rank 0 has nothing to load. Other ranks go on, so that it does not wait for them in vain.
  const Difference missing = {
      "the checkpoint", -1, "a file", "none",
      disk
          ? Hint("rank-0-saves", "rank 0 has to save it")
          : Hint("wait-for-rank-0", "this rank has returned before rank 0 has saved: wait for it")};
  if (disk && !was_saved) return missing;
  Trained again = forgotten(*example.count);
  function(dist, CheckpointAction::kLoad, path, state_of(again));
  if (!was_saved) return missing;
  if (auto wrong = compare_restored(again, *example.count, dist.world_size())) return wrong;
  if (!disk) return std::nullopt;
  if (auto wrong = compare_file(path, *example.count)) return wrong;
  // Where no other rank waits.
  if (dist.world_size() > 1) return std::nullopt;
  return compare_kept(function, dist, path, *example.count);
}

NativeCalls calls(const Case& example) {
  const NativeCalls save = {{CollectiveKind::kBarrier}};
  std::vector<std::int64_t> sizes = sizes_of(*example.count);
  // Numbers of 8 bytes, in floats.
  sizes.push_back(2 * static_cast<std::int64_t>(numbers_of(*example.count)));
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
