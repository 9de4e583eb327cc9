#include "training/run/checkpointing.h"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <memory>
#include <type_traits>

#include <fmt/format.h>

#include "comm/errors.h"
#include "files/output_file.h"
#include "training/checkpoint_numbers.h"

namespace rankbox::train {
namespace {

/// Calls fn(name, number) for each number; the older ones, which all files have, first.
template <class Fn>
void for_each_number(RunNumbers& numbers, Fn fn) {
  fn("epoch", numbers.position.epoch);
  fn("batch_of_epoch", numbers.position.batch);
  fn("steps", numbers.position.steps);
  fn("batch", numbers.batch);
  fn("seed", numbers.seed);
  fn("data", numbers.data);
  fn("ranks", numbers.ranks);
  fn("learning_rate_bits", numbers.learning_rate);
  fn("accumulate", numbers.accumulate);
  fn("momentum_bits", numbers.momentum);
  fn("weight_decay_bits", numbers.weight_decay);
  fn("warmup_steps", numbers.warmup_steps);
  fn("decay", numbers.decay);
  fn("all_steps", numbers.all_steps);
  fn("best_by", numbers.best_by);
  fn("best_bits", numbers.position.best);
  fn("best_steps", numbers.position.best_steps);
  fn("clip_norm_bits", numbers.clip_norm);
}

/// The state of a run, whose numbers are a copy of those given.
class RunState {
 public:
  RunState(const std::string& model, Trainer& trainer, const RunNumbers& numbers)
      : numbers_(numbers) {
    state.model = model;
    for_each_number(numbers_, [this](const char* name, auto& number) {
      if constexpr (std::is_same_v<decltype(number), double&>) {
        bits_.push_back(std::make_unique<std::int64_t>(std::bit_cast<std::int64_t>(number)));
        state.numbers.emplace_back(name, bits_.back().get());
      } else {
        state.numbers.emplace_back(name, &number);
      }
    });
    trainer.add_state(state);
  }

  RunState(const RunState&) = delete;  // `state` refers to its numbers
  RunState& operator=(const RunState&) = delete;

  /// Returns the numbers after loading.
  RunNumbers numbers() const {
    RunNumbers loaded = numbers_;
    std::size_t next = 0;
    for_each_number(loaded, [&](const char*, auto& number) {
      if constexpr (std::is_same_v<decltype(number), double&>)
        number = std::bit_cast<double>(*bits_[next++]);
    });
    return loaded;
  }

  TrainingState state;

 private:
  RunNumbers numbers_;
  std::vector<std::unique_ptr<std::int64_t>> bits_;  // of the doubles
};

std::string schedule_of(const RunNumbers& numbers) {
  const auto decay = static_cast<Decay>(numbers.decay);
  std::string text = name_of(decay);
  if (decay != Decay::kConstant) text += fmt::format(" to step {}", numbers.all_steps);
  if (numbers.warmup_steps > 0) text += fmt::format(", warm-up of {}", numbers.warmup_steps);
  return text;
}

/// Returns the permitted differences.
std::vector<std::string> notes_on(const RunNumbers& found, const RunNumbers& here) {
  std::vector<std::string> notes;
  if (found.ranks != here.ranks) {
    notes.push_back(
        fmt::format("saved by {} rank{}, goes on with {}: the same up to rounding, "
                    "batch norm excepted",
                    found.ranks, found.ranks == 1 ? "" : "s", here.ranks));
  }
  const auto compare = [&](const char* what, const auto& there, const auto& now) {
    if (there != now)
      notes.push_back(fmt::format("{} {} from now on, {} before", what, now, there));
  };
  compare("learning rate", found.learning_rate, here.learning_rate);
  compare("rate schedule", schedule_of(found), schedule_of(here));
  compare("momentum", found.momentum, here.momentum);
  compare("weight decay", found.weight_decay, here.weight_decay);
  const auto norm = [](double x) { return x > 0 ? fmt::format("{}", x) : std::string("none"); };
  compare("clip norm", norm(found.clip_norm), norm(here.clip_norm));
  return notes;
}

}  // namespace

Checkpointing::Checkpointing(const Plan& plan, const Task& task)
    : path_(plan.save),
      model_(fmt::format("{}, {}{}{}", task.model_name, name_of(plan.optimizer),
                         plan.momentum == 0 ? " without momentum" : "",
                         with_precision(plan.precision))),
      here_{.batch = plan.batch,
            .accumulate = plan.accumulate,
            .seed = static_cast<std::int64_t>(plan.seed),
            .data = plan.save.empty() ? 0 : digest_of(task.data.train),
            .ranks = plan.ranks,
            .learning_rate = plan.learning_rate,
            .momentum = plan.momentum,
            .weight_decay = plan.weight_decay,
            .warmup_steps = plan.warmup_steps,
            .decay = static_cast<std::int64_t>(plan.decay),
            .all_steps = plan.epochs * plan.steps_per_epoch(task.data.train.size()),
            .best_by = static_cast<std::int64_t>(plan.keep_best),
            .clip_norm = plan.clip_norm} {}

Checkpointing Checkpointing::best() const {
  Checkpointing other = *this;
  other.path_ += ".best";
  return other;
}

std::int64_t Checkpointing::steps_in_file() const {
  if (!std::filesystem::exists(path_)) return -1;
  for (const auto& [name, number] : checkpoint_numbers(path_)) {
    if (name == "steps") return number;
  }
  throw InvalidArgument(fmt::format("{} is not a checkpoint of a training run", path_));
}

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
  // What an older file lacks has its default.
  RunState loaded(model_, trainer, {});
  const auto has = checkpoint_numbers(path_);
  std::erase_if(loaded.state.numbers, [&](const auto& number) {
    return std::ranges::none_of(has, [&](const auto& each) { return each.first == number.first; });
  });
  load_checkpoint(path_, loaded.state);
  const RunNumbers found = loaded.numbers();
  const auto must_agree = [&](const char* what, std::int64_t there, std::int64_t here) {
    if (there == here) return;
    throw InvalidArgument(
        fmt::format("--resume: {} was saved with {} {}, and this run has {}; give the same, or "
                    "--save another file",
                    path_, what, there, here));
  };
  must_agree("--batch", found.batch, here_.batch);
  must_agree("--accumulate", found.accumulate, here_.accumulate);
  must_agree("--seed", found.seed, here_.seed);
  if (found.data != here_.data) {
    throw InvalidArgument(
        fmt::format("--resume: {} was saved while training on other data; give the same --data and "
                    "--samples, or --save another file",
                    path_));
  }
  position = found.position;
  std::vector<std::string> notes = notes_on(found, here_);
  if (found.best_by != here_.best_by) {
    position.best = -1;
    position.best_steps = 0;
    if (here_.best_by != 0)
      notes.emplace_back("the best model is chosen from now on; earlier ones are not compared");
  }
  return notes;
}

void Checkpointing::save(Trainer& trainer, Position position) const {
  if (!is_wanted()) return;
  RunNumbers numbers = here_;
  numbers.position = position;
  save_checkpoint(path_, RunState(model_, trainer, numbers).state);
}

void share_position(Comm& dist, Position& position) {
  auto numbers = from_host({position.epoch, position.batch, position.steps,
                            std::bit_cast<std::int64_t>(position.best), position.best_steps});
  dist.broadcast(numbers, 0);
  const std::vector<std::int64_t> shared = to_host(numbers);
  position = {shared[0], shared[1], shared[2], std::bit_cast<double>(shared[3]), shared[4]};
}

}  // namespace rankbox::train
