#include "training/run/session.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "comm/run_ranks.h"
#include "training/run/evaluate.h"
#include "training/run/moe_model.h"
#include "training/run/strategies/all_reduce.h"

namespace rankbox::train {
namespace {

// A rank may have to wait while rank 0 writes a checkpoint to a slow disk.
constexpr double kDeadlineSeconds = 120;

std::atomic<bool> begun = false;

/// A run that died may have replaced the best model after its last checkpoint. This run leaves that
/// part out, or repeats it: then what the file has may be no model of this run.
void check_best(const Checkpointing& best, Position& position, std::vector<std::string>& notes) {
  const std::int64_t steps = best.steps_in_file();
  if (steps < 0) {
    throw InvalidArgument(fmt::format(
        "--resume: the best model's file {} is gone; put it back, or leave out --keep-best",
        best.path()));
  }
  if (steps == position.best_steps) return;
  notes.push_back(
      fmt::format("{} has the model of step {}, but up to step {}, where this run goes on, the "
                  "best was that of step {}: the best model is chosen from now on",
                  best.path(), steps, position.steps, position.best_steps));
  position.best = -1;
  position.best_steps = 0;
}

/// Starts from the checkpoint, with --resume.
Position begin(Comm& dist, Trainer& trainer, const Plan& plan, const Checkpointing& checkpoint,
               const Listener& listener) {
  Position position;
  if (dist.rank() == 0) {
    std::vector<std::string> notes;
    checkpoint.check_place();
    if (plan.keep_best != BestBy::kNothing) checkpoint.best().check_place();
    if (plan.resume) notes = checkpoint.load(trainer, position);
    if (position.best_steps > 0 && plan.keep_best != BestBy::kNothing)
      check_best(checkpoint.best(), position, notes);
    if (listener.on_start) listener.on_start(position, notes);
  }
  share_position(dist, position);
  begun = true;
  trainer.start();
  return position;
}

/// Loads the best model on all ranks. Returns the number of steps that it had completed.
std::int64_t load_best(Comm& dist, Trainer& trainer, const Checkpointing& checkpoint) {
  Position position;
  trainer.gather();
  if (dist.rank() == 0) {
    const Checkpointing best = checkpoint.best();
    if (!std::filesystem::exists(best.path())) {
      throw Error(
          fmt::format("--keep-best: the best model's file {} is gone; training is complete, "
                      "its last model is in {}",
                      best.path(), checkpoint.path()));
    }
    best.load(trainer, position);
  }
  trainer.start();
  return position.steps;
}

/// Returns how many rows of the test samples each expert has, on all ranks together.
std::vector<std::int64_t> loads_of(Comm& dist, Trainer& trainer, const Dataset& test,
                                   std::vector<std::int64_t>& loads) {
  if (loads.empty()) return {};
  std::ranges::fill(loads, 0);
  evaluate(dist, trainer, test);
  TensorOf<std::int64_t> all = from_host(loads);
  dist.all_reduce(all);
  return to_host(all);
}

}  // namespace

bool has_begun() { return begun; }

std::uint64_t digest_of(const std::vector<Parameter*>& parameters) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, over elements
  for (const Parameter* parameter : parameters) {
    for (const float value : to_host(parameter->value)) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof(bits));
      hash = (hash ^ bits) * 0x100000001b3;
    }
  }
  return hash;
}

int world_size_for(int asked) {
  const int processes = launch().processes;
  if (processes == 0) return asked == 0 ? 1 : asked;
  if (asked != 0 && asked != processes) {
    throw InvalidArgument(
        fmt::format("--ranks {}: a launcher has started {} processes, which are one rank each; "
                    "leave it out, or have it start {}",
                    asked, processes, asked));
  }
  return processes;
}

namespace {

/// Throws InvalidArgument for buckets that the strategy has not, or cannot have with other options.
void check_buckets(const Plan& plan, const Strategy& strategy) {
  if (plan.bucket_mib == 0) return;
  const char* const option = plan.overlap ? "--overlap" : "--bucket-mb";
  if (!strategy.has_buckets) {
    throw InvalidArgument(
        fmt::format("{}: {} has no buckets of gradients; leave it out, or choose --strategy ddp",
                    option, strategy.name));
  }
  if (plan.all_reduce != "native") {
    throw InvalidArgument(fmt::format(
        "{} and --all-reduce {}: buckets take the native all-reduce; leave one of them out", option,
        plan.all_reduce));
  }
  if (plan.overlap && plan.accumulate > 1) {
    throw InvalidArgument(fmt::format(
        "--overlap and --accumulate {}: ddp_overlap averages in every backward, starting with "
        "empty "
        "gradients, and accumulation averages once a step; give --bucket-mb without --overlap",
        plan.accumulate));
  }
}

}  // namespace

void check_plan(const Plan& plan, std::int64_t samples) {
  const Strategy& strategy = strategy_named(plan.strategy);
  if (all_reduce_named(plan.all_reduce).name != "native" && !strategy.all_reduces) {
    throw InvalidArgument(fmt::format(
        "--all-reduce {}: {} takes no mean of gradients by an all-reduce; leave it out, "
        "or choose --strategy ddp",
        plan.all_reduce, strategy.name));
  }
  check_buckets(plan, strategy);
  strategy.check(plan, samples);
  if (plan.batch > samples) {
    throw InvalidArgument(
        fmt::format("--batch {}: more than the {} samples to train with, and only full batches are "
                    "taken; give --batch {} at most",
                    plan.batch, samples, samples));
  }
  // Divides: batch times accumulate may not fit in 64 bits.
  if (plan.accumulate > samples / plan.batch) {
    throw InvalidArgument(fmt::format(
        "--accumulate {}: a step takes {} batches of {}, more than the {} samples to train with; "
        "give --accumulate {} at most",
        plan.accumulate, plan.accumulate, plan.batch, samples, samples / plan.batch));
  }
  if (const std::int64_t steps = plan.epochs * plan.steps_per_epoch(samples);
      plan.warmup_steps > steps) {
    throw InvalidArgument(fmt::format(
        "--warmup-steps {}: the run has {} steps; give at most that many, or more --epochs",
        plan.warmup_steps, steps));
  }
}

Outcome run_session(const Plan& plan, const Task& task, const Listener& listener) {
  check_plan(plan, task.data.train.size());
  RunOptions options;
  options.world_size = plan.ranks;
  options.nodes = plan.nodes;
  options.cluster = plan.cluster;
  options.deadline_seconds = kDeadlineSeconds;
  options.trace = false;  // it would grow with every step

  const Strategy& strategy = strategy_named(plan.strategy);
  const Checkpointing checkpoint(plan, task);
  Outcome outcome;  // written by rank 0, read when all have ended
  const auto run = run_ranks(options, [&](Comm& dist) {
    if (listener.on_rank) listener.on_rank();
    std::vector<std::int64_t> loads(static_cast<std::size_t>(task.experts));
    const Model model = counting_loads(task.model, loads);
    const std::unique_ptr<Trainer> trainer = strategy.make(dist, model, plan);
    Position position = begin(dist, *trainer, plan, checkpoint, listener);
    const bool has_work = position.epoch < plan.epochs;
    Evaluation test;
    std::int64_t test_steps = position.steps;
    Listener mine = listener;
    mine.on_epoch = [&](const Position& now, const Evaluation& metrics) {
      test = metrics;
      test_steps = now.steps;
      if (listener.on_epoch) listener.on_epoch(now, metrics);
    };
    const bool is_complete = run_loop(dist, *trainer, plan, task.data, checkpoint, mine, position);
    const bool takes_best = is_complete && position.best >= 0;
    const std::int64_t best_steps = takes_best ? load_best(dist, *trainer, checkpoint) : 0;
    if (!has_work || takes_best) test = evaluate(dist, *trainer, task.data.test);
    if (takes_best) test_steps = best_steps;
    const std::vector<std::int64_t> all_loads = loads_of(dist, *trainer, task.data.test, loads);
    trainer->gather();
    const std::vector<Parameter*> parameters = trainer->parameters();
    if (dist.rank() == 0) {
      outcome.end = position;
      outcome.parameters = count_elements(parameters);
      outcome.test = test;
      outcome.test_steps = test_steps;
      outcome.best_steps = best_steps;
      outcome.expert_loads = all_loads;
    }
    const std::uint64_t digest = digest_of(parameters);
    trainer->release();
    return std::pair(digest, is_complete);
  });
  for (const auto& [digest, is_complete] : run.results) outcome.digests.push_back(digest);
  outcome.is_complete = run.results.front().second;
  return outcome;
}

}  // namespace rankbox::train
