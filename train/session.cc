#include "train/session.h"

#include <atomic>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "comm/run_ranks.h"
#include "train/evaluate.h"
#include "train/strategies/all_reduce.h"

namespace rankbox::train {
namespace {

// A rank may have to wait while rank 0 writes a checkpoint to a slow disk.
constexpr double kDeadlineSeconds = 120;

std::atomic<bool> begun = false;

/// Starts from the checkpoint, with --resume.
Position begin(Comm& dist, Trainer& trainer, const Plan& plan, const Checkpointing& checkpoint,
               const Listener& listener) {
  Position position;
  if (dist.rank() == 0) {
    std::vector<std::string> notes;
    checkpoint.check_place();
    if (plan.resume) notes = checkpoint.load(trainer, position);
    if (listener.on_start) listener.on_start(position, notes);
  }
  share_position(dist, position);
  begun = true;
  trainer.start();
  return position;
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

void check_plan(const Plan& plan, std::int64_t samples) {
  const Strategy& strategy = strategy_named(plan.strategy);
  if (plan.precision != Precision::kFp32 && !strategy.has_16_bits) {
    throw InvalidArgument(
        fmt::format("--precision {}: {} computes in 32 bits alone; leave it out, or choose "
                    "--strategy single or ddp",
                    name_of(plan.precision), strategy.name));
  }
  if (all_reduce_named(plan.all_reduce).name != "native" && !strategy.all_reduces) {
    throw InvalidArgument(fmt::format(
        "--all-reduce {}: {} takes no mean of gradients by an all-reduce; leave it out, "
        "or choose --strategy ddp",
        plan.all_reduce, strategy.name));
  }
  strategy.check(plan, samples);
  if (plan.batch > samples) {
    throw InvalidArgument(
        fmt::format("--batch {}: more than the {} samples to train with, and only full batches are "
                    "taken; give --batch {} at most",
                    plan.batch, samples, samples));
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
    const std::unique_ptr<Trainer> trainer = strategy.make(dist, task.model, plan);
    Position position = begin(dist, *trainer, plan, checkpoint, listener);
    const bool has_work = position.epoch < plan.epochs;
    Metrics test;
    Listener mine = listener;
    mine.on_epoch = [&](const Position& now, const Metrics& metrics) {
      test = metrics;
      if (listener.on_epoch) listener.on_epoch(now, metrics);
    };
    const bool is_complete = run_loop(dist, *trainer, plan, task.data, checkpoint, mine, position);
    if (!has_work) test = evaluate(dist, *trainer, task.data.test);
    trainer->gather();
    const std::vector<Parameter*> parameters = trainer->parameters();
    if (dist.rank() == 0) {
      outcome.end = position;
      outcome.parameters = count_elements(parameters);
      outcome.test = test;
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
