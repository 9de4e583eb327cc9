// Judges the pipelines, for any schedule.
//
// Every rank receives its chunks of a deep model and runs the function. The judge then compares
// gradients, the order of passes, messages, time and memory with the promises of the schedule.
//
// Every pass takes virtual time and records a label in the trace, which gives order and idle time.
// Messages are free on the judge's cluster, so the idle time is exactly the bubble.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "judge/case_lists.h"
#include "judge/checks.h"
#include "judge/free_messages.h"
#include "judge/pipeline/compare_run.h"
#include "judge/pipeline/deep_model.h"
#include "judge/pipeline/layout.h"
#include "judge/pipeline/schedule.h"
#include "judge/salt.h"
#include "judge/training/known_mistakes.h"
#include "judge/training/small_training.h"
#include "judge/training_families.h"
#include "parallel/pipeline_data_parallel.h"
#include "parallel/pipeline_gpipe.h"
#include "parallel/pipeline_interleaved.h"
#include "parallel/stage.h"
#include "training/sgd.h"

namespace rankbox {

namespace {

constexpr int kSteps = 20;
constexpr int kMostRanksOfTraining = 5;  // larger worlds reveal no new mistakes
constexpr SgdOptions kSgd = {.learning_rate = 0.05, .momentum = 0.5};
constexpr float kBound = 3e-6F;  // of a gradient: the order of additions differs

std::vector<Stage> chunks_of(const Layout& layout, int rank) {
  std::vector<Stage> chunks;
  for (int chunk = 0; chunk < layout.shape.chunks; ++chunk) {
    const int stage = layout.stage_of(rank, chunk);
    chunks.emplace_back(deep_model(layout.stages()), deep_cut(stage, layout.stages()));
  }
  return chunks;
}

/// Makes every pass take virtual time and record its label.
void watch(Comm& dist, std::vector<Stage>& chunks, std::vector<StagePass>& passes) {
  const bool several = chunks.size() > 1;
  for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk) {
    chunks[chunk].on_turn = [&, several, chunk](Turn turn, int micro_batch) {
      const bool is_input = turn == Turn::kBackwardInput;  // "B", too
      passes.push_back({is_input ? Turn::kBackward : turn, micro_batch, static_cast<int>(chunk)});
      dist.compute(seconds_of(turn), label_of(passes.back(), several));
    };
  }
}

std::vector<Parameter*> parameters_of(std::vector<Stage>& chunks) {
  std::vector<Parameter*> all;
  for (Stage& chunk : chunks) {
    for (Parameter* parameter : chunk.parameters()) all.push_back(parameter);
  }
  return all;
}

void load(std::vector<Stage>& chunks, const Layout& layout, int rank, int step) {
  const Batch batch = deep_batch(layout.samples, step, layout.replica_of(rank));
  for (Stage& chunk : chunks) chunk.load(micro_batches_of(batch, layout.shape.micro_batches), step);
}

/// Adds the gradients on one device, of the replicas' mean losses with these weights.
void add_gradients_alone(Sequential& whole, const Layout& layout, int step,
                         const std::vector<double>& weights) {
  std::vector<Weighted> batches;
  for (int replica = 0; replica < layout.replicas; ++replica) {
    const double weight = weights[static_cast<std::size_t>(replica)];
    if (weight > 0) batches.push_back({deep_batch(layout.samples, step, replica), weight});
  }
  add_weighted_gradients(whole, batches);
}

std::vector<double> equal_weights(const Layout& layout, double sum = 1) {
  return std::vector<double>(static_cast<std::size_t>(layout.replicas), sum / layout.replicas);
}

/// Returns a stage's tensors out of the whole model's: a weight and a bias.
std::vector<NamedTensor> part_of_stage(const std::vector<NamedTensor>& whole, int stage) {
  return {whole.begin() + 2 * stage, whole.begin() + 2 * stage + 2};
}

/// Returns the gradients of a stage after a step in which the replicas' mean losses have these
/// weights.
std::vector<NamedTensor> gradients_with(const Layout& layout, int stage,
                                        const std::vector<double>& weights) {
  Sequential whole(deep_model(layout.stages()));
  add_gradients_alone(whole, layout, 0, weights);
  return part_of_stage(gradients_of(whole), stage);
}

std::vector<Mistake> mistakes(const Layout& layout, int stage, int replica) {
  const auto made = [=](const std::vector<double>& weights) {
    return [=] { return gradients_with(layout, stage, weights); };
  };
  std::vector<double> own(static_cast<std::size_t>(layout.replicas), 0);
  own[static_cast<std::size_t>(replica)] = 1;
  const double m = layout.shape.micro_batches;
  return {
      {{"own-replica-gradient", "that is this replica's own gradient: the others' are missing"},
       made(own)},
      {{"sum-of-replicas", "that is the sum of all replicas' gradients: their mean is wanted"},
       made(equal_weights(layout, layout.replicas))},
      {{"divided-by-micro-batches-again",
        "divided by the number of micro-batches once more: the stage divides each loss by the "
        "whole "
        "batch already"},
       made(equal_weights(layout, 1 / m))},
      {{"micro-batches-times-too-large",
        "that is as many times too large as there are micro-batches: each loss is divided by the "
        "whole "
        "batch, so gradients just add up"},
       made(equal_weights(layout, m))},
  };
}

/// One of the judged pipelines.
struct Pipeline {
  Schedule schedule;
  std::vector<Case> (*cases_of)(int world_size);  // without steps
  std::function<void(Comm& dist, std::vector<Stage>& chunks, const Case& example)> call = {};
};

std::vector<Case> all_cases(std::vector<Case> (*cases_of)(int world_size)) {
  std::vector<Case> all;
  for (const int world_size : world_sizes()) {
    for (const Case& example : cases_of(world_size)) {
      all.push_back(example);
      all.back().steps = 0;
    }
    if (world_size > kMostRanksOfTraining) continue;
    all.push_back(all.back());
    all.back().steps = kSteps;
  }
  return all;
}

std::optional<Difference> compare_gradients(const Schedule& schedule, std::vector<Stage>& chunks,
                                            int rank, const std::vector<StagePass>& passes,
                                            const Layout& layout) {
  for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk) {
    const int stage = layout.stage_of(rank, static_cast<int>(chunk));
    auto wrong = compare_tensors(
        gradients_of(chunks[chunk].layers()), gradients_with(layout, stage, equal_weights(layout)),
        kBound, mistakes(layout, stage, layout.replica_of(rank)),
        {"each-micro-batch-its-gradient",
         "one rank with the whole batch gets that: does each micro-batch get "
         "its own gradient back, and does each go back?"});
    if (!wrong) continue;
    // A wrong order is the likeliest cause, and the easiest to see.
    const std::vector<StagePass> promised = schedule.passes(layout.position_of(rank), layout.shape);
    if (const auto order = compare_order(promised, passes, rank, layout.shape.chunks > 1)) {
      wrong->hint = {"order-of-passes",
                     order->what + ": expected " + order->expected + ", got " + order->actual};
    }
    return wrong;
  }
  return std::nullopt;
}

std::optional<Difference> run(const Pipeline& pipeline, Comm& dist, const Case& example) {
  const Layout layout = layout_of(example);
  std::vector<Stage> chunks = chunks_of(layout, dist.rank());
  std::vector<StagePass> passes;
  watch(dist, chunks, passes);
  for (Parameter* parameter : parameters_of(chunks)) gradient_of(*parameter);

  if (*example.steps == 0) {
    load(chunks, layout, dist.rank(), 0);
    pipeline.call(dist, chunks, example);
    if (!is_exact(example)) return std::nullopt;  // too large to judge: only drawn
    return compare_gradients(pipeline.schedule, chunks, dist.rank(), passes, layout);
  }

  Sequential whole(deep_model(layout.stages()));
  Sgd together(parameters_of(chunks), kSgd);
  Sgd alone(whole.parameters(), kSgd);
  for (int step = 0; step < *example.steps; ++step) {
    zero_gradients(parameters_of(chunks));
    load(chunks, layout, dist.rank(), step);
    pipeline.call(dist, chunks, example);
    together.step();

    zero_gradients(whole.parameters());
    add_gradients_alone(whole, layout, step, equal_weights(layout));
    alone.step();
  }
  for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk) {
    const int stage = layout.stage_of(dist.rank(), static_cast<int>(chunk));
    if (auto wrong = compare_tensors(
            values_of(chunks[chunk].parameters()),
            part_of_stage(values_of(whole.parameters()), stage), kTrainingBound, {},
            {"trains-as-one-rank", "one rank with the whole batch gets there in 20 steps"}))
      return wrong;
  }
  return std::nullopt;
}

/// Returns a subject of this pipeline without a closed form: the checks are stricter than a cost.
Subject subject_of(const Pipeline& pipeline) {
  const Schedule schedule = pipeline.schedule;
  // Training steps have the same schedule.
  const auto check = [](FailureKind kind, auto compare) {
    return check_of(kind, [=](const RunReport& report, const Case& example) {
      return *example.steps > 0 ? std::nullopt : compare(report, layout_of(example));
    });
  };
  const auto orders = [=](const RunReport& report, const Layout& layout) {
    return compare_orders(report.trace, schedule, layout);
  };
  const auto messages = [](const RunReport& report, const Layout& layout) {
    return compare_messages(report.trace, layout);
  };
  const auto idle = [=](const RunReport& report, const Layout& layout) {
    return compare_idle(report, schedule, layout);
  };
  const auto held = [=](const RunReport& report, const Layout& layout) {
    return compare_held(report.trace, schedule, layout);
  };
  return {.cases = [cases_of = pipeline.cases_of] { return all_cases(cases_of); },
          .run = [=](Comm& dist, const Case& example) { return run(pipeline, dist, example); },
          .checks = {check(FailureKind::kCost, orders), check(FailureKind::kCost, messages),
                     check(FailureKind::kCost, idle), check(FailureKind::kMemory, held)},
          .limits_memory = true,
          .cluster = free_messages(),
          .idle_share =
              [=](const Case& example) {
                return IdleShare{schedule.idle(layout_of(example).shape), schedule.idle_formula};
              }};
}

// 1. One chunk per rank: model_parallel, pipeline_gpipe, pipeline_1f1b, pipeline_zero_bubble.

using OneChunk = decltype(&pipeline_gpipe);

std::vector<Case> cases_of_one_chunk(int world_size) {
  std::vector<Case> some;
  const auto many = static_cast<int>(drawn("micro-batches", 12, 10, 16));
  for (const int micro_batches : {1, 3, many}) {
    // The count is not divisible: one micro-batch is larger.
    some.push_back(
        {.world_size = world_size, .segments = micro_batches, .count = 2 * micro_batches + 1});
  }
  // No number of micro-batches is the largest.
  if (world_size == 2)
    some.insert(some.begin() + 2, {.world_size = 2, .segments = 70, .count = 71});
  return some;
}

const Schedule& schedule_named(std::string_view name) {
  if (name == "gpipe") return schedule::kGpipe;
  if (name == "1f1b") return schedule::k1F1B;
  if (name == "zero_bubble") return schedule::kZeroBubble;
  return schedule::kModelParallel;
}

// 2. Several chunks per rank.

using SeveralChunks = decltype(&pipeline_interleaved);

constexpr int kMostRanksOfManyChunks = 4;
constexpr int kMostChunks = 9;

std::vector<Case> cases_of_several_chunks(int world_size) {
  const auto many = static_cast<int>(drawn("chunks", 3, 3, 4));
  std::vector<Case> some;
  for (const auto& [chunks, rounds] :
       {std::pair(1, 1), std::pair(2, 1), std::pair(2, 3), std::pair(many, 2)}) {
    if (chunks == many && world_size > kMostRanksOfManyChunks) continue;
    const int micro_batches = rounds * world_size;
    some.push_back({.world_size = world_size,
                    .segments = micro_batches,
                    .count = 2 * micro_batches + 1,
                    .chunks = chunks});
  }
  if (world_size == 2)
    some.push_back({.world_size = 2, .segments = 4, .count = 9, .chunks = kMostChunks});
  return some;
}

// 3. Parallel pipelines, whose gradients are averaged.

constexpr int kMostSplits = 2;

using Replicas = decltype(&rankbox::pipeline_data_parallel);

std::vector<Case> cases_of_replicas(int world_size) {
  const auto micro_batches = static_cast<int>(drawn("micro-batches", 3, 2, 6));
  std::vector<Case> some;
  for (int replicas = 1; replicas <= world_size; ++replicas) {
    if (world_size % replicas != 0) continue;
    some.push_back({.world_size = world_size,
                    .segments = micro_batches,
                    .count = 2 * micro_batches + 1,
                    .replicas = replicas});
  }
  return some;
}

/// Returns the bytes that each rank should pass to native collectives: its stage's gradients, once.
std::int64_t gradient_bytes(int rank, const Layout& layout) {
  const StageCut cut = deep_cut(layout.position_of(rank), layout.stages());
  Sequential layers(deep_model(layout.stages()), cut.begin, cut.end);
  return count_elements(layers.parameters()) * kElementBytes;
}

std::optional<Difference> compare_averaging(const RunReport& report, const Case& example) {
  if (*example.steps > 0) return std::nullopt;
  const Layout layout = layout_of(example);
  for (int rank = 0; rank < example.world_size; ++rank) {
    const std::int64_t promised = gradient_bytes(rank, layout);
    std::int64_t actual = 0;
    int splits = 0;
    for (const Event& event : report.trace.ranks[static_cast<std::size_t>(rank)]) {
      if (event.kind != EventKind::kCollective) continue;
      actual += event.bytes;
      splits += event.collective == CollectiveKind::kSplit ? 1 : 0;
    }
    if (splits > kMostSplits) {
      return Difference{"splits",
                        -1,
                        fmt::format("{} at most", kMostSplits),
                        std::to_string(splits),
                        {"two-splits", "one for the pipeline, and one for the column"},
                        rank};
    }
    if (actual == promised) continue;
    return Difference{"bytes to native collectives",
                      -1,
                      std::to_string(promised),
                      std::to_string(actual),
                      {"gradients-of-stage-once", "the gradients of this rank's stage, once"},
                      rank};
  }
  return std::nullopt;
}

}  // namespace

Family family::pipeline() {
  const auto subject = [](AnyFunction function, std::string_view cost) {
    return subject_of({schedule_named(cost), cases_of_one_chunk,
                       [function](Comm& dist, std::vector<Stage>& chunks, const Case&) {
                         reinterpret_cast<OneChunk>(function)(dist, chunks.front());
                       }});
  };
  return {"pipeline",
          "(Comm& dist, Stage& stage)",
          subject,
          {"model_parallel", "gpipe", "1f1b", "zero_bubble"}};
}

Family family::interleaved_pipeline() {
  const auto subject = [](AnyFunction function, std::string_view /*cost*/) {
    return subject_of({schedule::kInterleaved, cases_of_several_chunks,
                       [function](Comm& dist, std::vector<Stage>& chunks, const Case&) {
                         reinterpret_cast<SeveralChunks>(function)(dist, chunks);
                       }});
  };
  return {"interleaved_pipeline", "(Comm& dist, std::vector<Stage>& chunks)", subject};
}

Family family::pipeline_data_parallel() {
  const auto subject = [](AnyFunction function, std::string_view /*cost*/) {
    Subject made =
        subject_of({schedule::k1F1B, cases_of_replicas,
                    [function](Comm& dist, std::vector<Stage>& chunks, const Case& example) {
                      reinterpret_cast<Replicas>(function)(dist, chunks.front(),
                                                           example.world_size / *example.replicas);
                    }});
    made.natives = Natives::kCollectives;
    made.splits_later = true;
    made.checks.push_back(check_of(FailureKind::kCost, compare_averaging));
    return made;
  };
  return {"pipeline_data_parallel", "(Comm& dist, Stage& stage, int stages)", subject};
}

}  // namespace rankbox
