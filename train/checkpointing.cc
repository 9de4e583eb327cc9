#include "train/checkpointing.h"

#include <bit>
#include <filesystem>

#include <fmt/format.h>

#include "comm/errors.h"
#include "files/output_file.h"

namespace rankbox::train {
namespace {

/// The numbers in a file, besides tensors.
struct Numbers {
  Position position;
  std::int64_t batch = 0;
  std::int64_t seed = 0;
  std::int64_t data = 0;
  std::int64_t ranks = 0;
  std::int64_t learning_rate_bits = 0;
};

TrainingState state_of(const std::string& model, Trainer& trainer, Numbers& numbers) {
  TrainingState state;
  state.model = model;
  state.numbers = {{"epoch", &numbers.position.epoch},
                   {"batch_of_epoch", &numbers.position.batch},
                   {"steps", &numbers.position.steps},
                   {"batch", &numbers.batch},
                   {"seed", &numbers.seed},
                   {"data", &numbers.data},
                   {"ranks", &numbers.ranks},
                   {"learning_rate_bits", &numbers.learning_rate_bits}};
  trainer.add_state(state);
  return state;
}

}  // namespace

Checkpointing::Checkpointing(const Plan& plan, const Task& task)
    : path_(plan.save),
      model_(fmt::format("{}, {}{}", task.model_name, name_of(plan.optimizer),
                         with_precision(plan.precision))),
      batch_(plan.batch),
      seed_(static_cast<std::int64_t>(plan.seed)),
      data_(plan.save.empty() ? 0 : digest_of(task.data.train)),
      ranks_(plan.ranks),
      learning_rate_(plan.learning_rate) {}

void Checkpointing::check_place() const {
  if (!is_wanted()) return;
  const std::filesystem::path folder = std::filesystem::absolute(path_).parent_path();
  if (!std::filesystem::is_directory(folder)) {
    throw InvalidArgument(
        fmt::format("--save {}: there is no folder {}; make it first", path_, folder.string()));
  }
  check_writable("--save", path_);
}

std::vector<std::string> Checkpointing::load(Trainer& trainer, Position& position) const {
  if (!std::filesystem::exists(path_)) {
    throw InvalidArgument(
        fmt::format("--resume: there is no checkpoint {}; leave out --resume to begin", path_));
  }
  Numbers found;
  load_checkpoint(path_, state_of(model_, trainer, found));
  const auto must_agree = [&](const char* what, std::int64_t there, std::int64_t here) {
    if (there == here) return;
    throw InvalidArgument(
        fmt::format("--resume: {} was saved with {} {}, and this run has {}; give the same, or "
                    "--save another file",
                    path_, what, there, here));
  };
  must_agree("--batch", found.batch, batch_);
  must_agree("--seed", found.seed, seed_);
  if (found.data != data_) {
    throw InvalidArgument(
        fmt::format("--resume: {} was saved while training on other data; give the same --data and "
                    "--samples, or --save another file",
                    path_));
  }
  position = found.position;

  std::vector<std::string> notes;
  if (found.ranks != ranks_) {
    notes.push_back(fmt::format("saved by {} ranks, goes on with {}: the same up to rounding",
                                found.ranks, ranks_));
  }
  if (const auto rate = std::bit_cast<double>(found.learning_rate_bits); rate != learning_rate_)
    notes.push_back(fmt::format("learning rate {} from now on, {} before", learning_rate_, rate));
  return notes;
}

void Checkpointing::save(Trainer& trainer, Position position) const {
  if (!is_wanted()) return;
  Numbers numbers = {position, batch_, seed_,
                     data_,    ranks_, std::bit_cast<std::int64_t>(learning_rate_)};
  save_checkpoint(path_, state_of(model_, trainer, numbers));
}

void share_position(Comm& dist, Position& position) {
  auto numbers = from_host({position.epoch, position.batch, position.steps});
  dist.broadcast(numbers, 0);
  const std::vector<std::int64_t> shared = to_host(numbers);
  position = {shared[0], shared[1], shared[2]};
}

}  // namespace rankbox::train
