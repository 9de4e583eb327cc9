// Chapter 6, as an instructor would test it: values and costs that are worked out by hand, then the
// judge's rows. NAME_exercise_test runs a function's test cases on the learner's file.
//
// Between four ranks, a native broadcast is a tree of 2 rounds, and an all-reduce of so few bytes a
// butterfly: in each of its 2 rounds, all bytes are sent and added.
#include "parallel/data_parallel.h"

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "files/temporary_folder.h"
#include "parallel/checkpoint_rank0.h"
#include "parallel/ddp_average_gradients.h"
#include "parallel/ddp_buckets.h"
#include "parallel/ddp_init_broadcast.h"
#include "parallel/ddp_no_sync.h"
#include "parallel/ddp_overlap.h"
#include "parallel/ddp_uneven_inputs.h"
#include "parallel/distributed_sampler.h"
#include "parallel/exact_metrics.h"
#include "parallel/split_without_leak.h"
#include "parallel/sync_batch_norm.h"
#include "tests/support/judge_rows.h"
#include "tests/support/on_ranks.h"
#include "training/layers/linear.h"
#include "training/sgd.h"

namespace rankbox {

namespace {

using Samples = std::vector<std::int64_t>;
using Inputs = std::vector<Values>;  // of several batches, one number for each sample

/// Returns the values or the gradients of all parameters, one after the other.
Values elements_of(const std::vector<Parameter*>& parameters, Tensor Parameter::*part) {
  Values all;
  for (const Parameter* parameter : parameters) {
    const Values own = to_host(parameter->*part);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

/// Two classes, and weights of 0: both have probability 1/2. So a sample x of class 0 adds -x/2 and
/// x/2 to the gradient of the sum of the losses.
Model untrained() { return {recipe<Linear>("fc", zeros({2, 1}), Tensor())}; }

constexpr double kBytes = 2 * sizeof(float);  // of its weights

/// Returns a batch of class 0.
Batch batch_of(const Values& inputs) {
  Batch batch;
  batch.x = from_host(inputs, {std::ssize(inputs), 1});
  batch.labels.resize(inputs.size());
  return batch;
}

std::vector<Batch> batches_of(const Inputs& inputs) {
  std::vector<Batch> batches;
  for (const Values& own : inputs) batches.push_back(batch_of(own));
  return batches;
}

/// Returns the share of each rank.
std::vector<Share> shares_of(std::int64_t samples, SamplerOptions options) {
  std::vector<Share> shares;
  for (options.rank = 0; options.rank < options.world_size; ++options.rank)
    distributed_sampler(samples, options, shares.emplace_back());
  return shares;
}

/// Returns parameter, statistic and gradient. Rank r begins with r + 1 in the first and the last,
/// and with -r - 1 in the statistic.
std::vector<Values> starting(Comm& dist) {
  const auto own = static_cast<float>(dist.rank() + 1);
  Parameter weight{"weight", full(3, own), full(3, own)};
  NamedTensor mean{"running_mean", full(2, -own)};
  ddp_init_broadcast(dist, {&weight}, {&mean});
  return {to_host(weight.value), to_host(mean.value), to_host(weight.gradient)};
}

/// Rank r has the gradients r and 4 of the weights. Only rank 0 has one of the bias: 8.
Values averaging(Comm& dist) {
  Parameter weight{"weight", zeros(2), from_host({static_cast<float>(dist.rank()), 4.0f})};
  Parameter bias{"bias", zeros(1)};
  if (dist.rank() == 0) bias.gradient = full(1, 8.0f);
  ddp_average_gradients(dist, {&weight, &bias});
  return elements_of({&weight, &bias}, &Parameter::gradient);
}

/// Parameters of 32, 8, 16 and 8 bytes. Rank r's gradients are r, 10 + r, 20 + r and 30 + r.
auto averaging_in_buckets(std::int64_t bucket_bytes) {
  return [=](Comm& dist) {
    const auto own = static_cast<float>(dist.rank());
    Parameter w0{"layer0.weight", zeros(8), full(8, own)};
    Parameter b0{"layer0.bias", zeros(2), full(2, 10 + own)};
    Parameter w1{"layer1.weight", zeros(4), full(4, 20 + own)};
    Parameter b1{"layer1.bias", zeros(2), full(2, 30 + own)};
    ddp_buckets(dist, {&w0, &b0, &w1, &b1}, bucket_bytes);
    return elements_of({&w0, &b0, &w1, &b1}, &Parameter::gradient);
  };
}

/// Returns the gradients. Even ranks have one list of micro-batches, odd ranks another.
auto accumulating(const Inputs& of_even, const Inputs& of_odd) {
  return [=](Comm& dist) {
    Sequential model(untrained());
    ddp_no_sync(dist, model, batches_of(dist.rank() % 2 == 0 ? of_even : of_odd));
    return elements_of(model.parameters(), &Parameter::gradient);
  };
}

/// Two layers: h = 2 x and y = (h, 3 h).
Model two_layers() {
  return {recipe<Linear>("fc1", full({1, 1}, 2.0f), Tensor()),
          recipe<Linear>("fc2", from_host(Values{1, 3}, {2, 1}), Tensor())};
}

/// Returns the gradients where x is r + 1 on rank r, and dy is (1, 1).
auto overlapping(std::int64_t bucket_bytes) {
  return [=](Comm& dist) {
    Sequential model(two_layers());
    Saved saved;
    model.forward(full({1, 1}, static_cast<float>(dist.rank() + 1)), saved);
    ddp_overlap(dist, model, full({1, 2}, 1.0f), saved, bucket_bytes);
    return elements_of(model.parameters(), &Parameter::gradient);
  };
}

/// Returns the weights. Rank r has the r-th of these lists of batches.
auto training_unevenly(const std::vector<Inputs>& of_ranks) {
  return [=](Comm& dist) {
    Sequential model(untrained());
    Sgd optimizer(model.parameters(), {.learning_rate = 1, .momentum = 0.5});
    const Inputs& mine = of_ranks[static_cast<std::size_t>(dist.rank())];
    ddp_uneven_inputs(dist, model, optimizer, batches_of(mine));
    return elements_of(model.parameters(), &Parameter::value);
  };
}

/// Returns validation and training samples, of 10. Rank r has the seed 41 + r.
auto splitting(std::int64_t held_out) {
  return [=](Comm& dist) {
    Samples train, validation;
    split_without_leak(dist, 10, held_out, 41 + dist.rank(), train, validation);
    return std::vector<Samples>{validation, train};
  };
}

/// Returns weights and gradients. Before, rank r's weights are r. Only rank 0 has the batch.
std::vector<Values> training_with_a_master(Comm& dist) {
  Sequential model(untrained());
  for (Parameter* parameter : model.parameters())
    copy(parameter->value, full(parameter->value.shape(), static_cast<float>(dist.rank())));
  data_parallel(dist, model, batch_of(dist.rank() == 0 ? Values{2, 4, 6, 20} : Values(4, 100)));
  return {elements_of(model.parameters(), &Parameter::value),
          elements_of(model.parameters(), &Parameter::gradient)};
}

/// Returns y and dx. Rank 0 has one sample, rank 1 has three, and the others have none.
std::vector<Values> normalizing(Comm& dist) {
  const std::vector<Values> x = {{5}, {1, 1, 1}, {}, {}};
  const std::vector<Values> dy = {{4}, {0, 0, 0}, {}, {}};
  const auto rank = static_cast<std::size_t>(dist.rank());
  const Shape shape = {std::ssize(x[rank]), 1};
  Tensor y = zeros(shape), dx = zeros(shape);
  sync_batch_norm(dist, from_host(x[rank], shape), from_host(dy[rank], shape), 1, y, dx);
  return {to_host(y), to_host(dx)};
}

/// Saves the state, overwrites it, and loads it. Returns the weights, the epoch and the step.
Values resuming(Comm& dist) {
  const TemporaryFolder disk;  // a different one on each rank, as on different machines
  const std::string path = disk.path("run.ckpt");
  std::int64_t epoch = dist.rank() + 3;
  std::int64_t step = dist.rank() + 40;
  Tensor weight = full(3, static_cast<float>(dist.rank() + 1));
  const TrainingState state{"a model", {{"epoch", &epoch}, {"step", &step}}, {{"weight", weight}}};
  checkpoint_rank0(dist, CheckpointAction::kSave, path, state);

  epoch = step = -1;
  copy(weight, zeros(3));
  checkpoint_rank0(dist, CheckpointAction::kLoad, path, state);
  Values resumed = to_host(weight);
  resumed.insert(resumed.end(), {static_cast<float>(epoch), static_cast<float>(step)});
  return resumed;
}

/// Returns loss, accuracy and samples. Only ranks 0 and 1 have samples.
Values measuring(Comm& dist) {
  Loss mine;
  if (dist.rank() == 0) mine = {.sum = 6, .counted = 3, .correct = 2, .gradient = {}};
  if (dist.rank() == 1) mine = {.sum = 1, .counted = 1, .correct = 1, .gradient = {}};
  Metrics all;
  exact_metrics(dist, mine, all);
  return {static_cast<float>(all.loss), static_cast<float>(all.accuracy),
          static_cast<float>(all.samples)};
}

}  // namespace

TEST_CASE("distributed_sampler: judged") { judge_rows("distributed_sampler"); }

TEST_CASE("distributed_sampler: ranks take turns, and the first samples fill up the last round") {
  const auto shares = shares_of(7, {.world_size = 3, .shuffle = false});
  CHECK(shares[0].samples == Samples{0, 3, 6});
  CHECK(shares[1].samples == Samples{1, 4, 0});
  CHECK(shares[2].samples == Samples{2, 5, 1});
  CHECK(shares[0].padding == 0);
  CHECK(shares[1].padding == 1);
  // With fewer samples than ranks, the last round is the first.
  CHECK(shares_of(2, {.world_size = 5, .shuffle = false})[4].samples == Samples{0});
}

TEST_CASE("distributed_sampler: drop_last leaves out what does not fill a round") {
  const auto shares = shares_of(7, {.world_size = 3, .shuffle = false, .drop_last = true});
  CHECK(shares[0].samples == Samples{0, 3});
  CHECK(shares[2].samples == Samples{2, 5});
  CHECK(shares[2].padding == 0);
}

TEST_CASE("distributed_sampler: seed and epoch decide the order in which ranks take turns") {
  const Samples order = shuffled(4, 11, 2);
  const auto shares = shares_of(4, {.world_size = 2, .seed = 11, .epoch = 2});
  CHECK(shares[0].samples == Samples{order[0], order[2]});
  CHECK(shares[1].samples == Samples{order[1], order[3]});
}

TEST_CASE("ddp_init_broadcast: judged") { judge_rows("ddp_init_broadcast"); }

TEST_CASE("ddp_init_broadcast: rank 0's parameters and statistics, each rank's own gradients") {
  const auto ranks = on_ranks(3, starting);
  CHECK(ranks[0] == std::vector<Values>{{1, 1, 1}, {-1, -1}, {1, 1, 1}});
  CHECK(ranks[2] == std::vector<Values>{{1, 1, 1}, {-1, -1}, {3, 3, 3}});
}

TEST_CASE("ddp_init_broadcast: a tree of 3 rounds for each of two tensors") {
  CHECK(cost_of(8, starting) == Cost{3 + 3, 3 * (12 + 8), 0});
}

TEST_CASE("ddp_average_gradients: judged") { judge_rows("ddp_average_gradients"); }

TEST_CASE("ddp_average_gradients: every rank ends with the mean; an empty gradient is 0") {
  CHECK(on_ranks(4, averaging) == every(4, {1.5, 4, 2}));
  CHECK(on_ranks(8, averaging) == every(8, {3.5, 4, 1}));
}

TEST_CASE("ddp_average_gradients: an all-reduce for each parameter, one after the other") {
  CHECK(cost_of(4, averaging) == Cost{2 + 2, 2 * (8 + 4), 2 * (8 + 4)});
}

TEST_CASE("ddp_buckets: judged") { judge_rows("ddp_buckets"); }

TEST_CASE("ddp_buckets: every rank ends with the mean, whatever the buckets") {
  for (const int bucket_bytes : {1, 24, 64}) {
    CAPTURE(bucket_bytes);
    CHECK(on_ranks(4, averaging_in_buckets(bucket_bytes)) ==
          every(4, {1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 11.5, 11.5, 21.5, 21.5, 21.5, 21.5,
                    31.5, 31.5}));
  }
}

TEST_CASE("ddp_buckets: fewer buckets save latencies, not bytes") {
  CHECK(cost_of(4, averaging_in_buckets(1)) == Cost{4 * 2, 2 * 64, 2 * 64});   // each alone
  CHECK(cost_of(4, averaging_in_buckets(24)) == Cost{3 * 2, 2 * 64, 2 * 64});  // 8 + 16, 8 and 32
  CHECK(cost_of(4, averaging_in_buckets(63)) == Cost{2 * 2, 2 * 64, 2 * 64});  // all but the first
  CHECK(cost_of(4, averaging_in_buckets(64)) == Cost{2, 2 * 64, 2 * 64});
}

TEST_CASE("ddp_no_sync: judged") { judge_rows("ddp_no_sync"); }

TEST_CASE("ddp_no_sync: every sample counts the same, whatever its micro-batch") {
  // The mean of the 8 samples is 16.
  CHECK(on_ranks(2, accumulating({{8}, {16}, {4, 4}}, {{32, 16}, {24, 24}})) == every(2, {-8, 8}));
}

TEST_CASE("ddp_no_sync: one all-reduce, after any number of micro-batches") {
  const Inputs one = {{1, 2, 3, 4}}, four = {{1}, {2}, {3}, {4}};
  CHECK(cost_of(4, accumulating(four, four)) == Cost{2, 2 * kBytes, 2 * kBytes});
  CHECK(cost_of(4, accumulating(one, four)) == Cost{2, 2 * kBytes, 2 * kBytes});
}

TEST_CASE("ddp_overlap: judged") { judge_rows("ddp_overlap"); }

TEST_CASE("ddp_overlap: every rank ends with the mean of what backward computes") {
  // Of fc1 (1 + 3) x, of fc2 twice h = 2 x; the mean of x is 2.5.
  CHECK(on_ranks(4, overlapping(1)) == every(4, {10, 5, 5}));
  CHECK(on_ranks(4, overlapping(12)) == every(4, {10, 5, 5}));
}

TEST_CASE("ddp_overlap: the network takes one bucket after the other") {
  CHECK(cost_of(4, overlapping(11)) == Cost{2 + 2, 2 * (8 + 4), 2 * (8 + 4)});
  CHECK(cost_of(4, overlapping(12)) == Cost{2, 2 * 12, 2 * 12});
}

TEST_CASE("ddp_uneven_inputs: judged") { judge_rows("ddp_uneven_inputs"); }

TEST_CASE("ddp_uneven_inputs: ranks without a batch take every step, too") {
  // In step 0 the mean of 4 samples is 16: the gradient is (-8, 8). Step 1 has one sample, 0,
  // and so no gradient, but half of the velocity is left: 8 + 4.
  CHECK(on_ranks(4, training_unevenly({{{8}}, {}, {{8, 32}, {0}}, {{16}}})) == every(4, {12, -12}));
}

TEST_CASE("ddp_uneven_inputs: a count before each step, and one at the end") {
  // The count has 8 bytes, as many as the gradient.
  CHECK(cost_of(4, training_unevenly({{{1}}, {}, {{1}, {1}}, {}})) ==
        Cost{5 * 2, 5 * 2 * 8, 5 * 2 * 8});
  CHECK(cost_of(4, training_unevenly({{}, {}, {}, {}})) == Cost{2, 2 * 8, 2 * 8});
}

TEST_CASE("split_without_leak: judged") { judge_rows("split_without_leak"); }

TEST_CASE("split_without_leak: every rank holds out the first samples of rank 0's order") {
  const Samples order = shuffled(10, 41, 0);
  const Samples first(order.begin(), order.begin() + 3), others(order.begin() + 3, order.end());
  for (const auto& rank : on_ranks(3, splitting(3)))
    CHECK(rank == std::vector<Samples>{first, others});
  for (const auto& rank : on_ranks(3, splitting(10)))
    CHECK(rank == std::vector<Samples>{order, Samples()});
}

TEST_CASE("split_without_leak: only the seed is sent, down a tree") {
  CHECK(cost_of(8, splitting(3)) == Cost{3, 3 * 8, 0});
}

TEST_CASE("data_parallel: judged") { judge_rows("data_parallel"); }

TEST_CASE("data_parallel: the master ends with the gradient of its whole batch") {
  const auto ranks = on_ranks(2, training_with_a_master);
  CHECK(ranks[0] == std::vector<Values>{{0, 0}, {-4, 4}});  // the mean of its inputs is 8
  CHECK(ranks[1][0] == Values{0, 0});                       // its weights
}

TEST_CASE("data_parallel: five collectives, and the master sends or receives all of each") {
  // Weights and gradients go through trees. Each of 3 ranks gets one input, and sends two outputs,
  // whose derivatives it gets back.
  CHECK(cost_of(4, training_with_a_master) ==
        Cost{5 * 2, 2 * kBytes + 3 * (4 + 8 + 8) + 2 * kBytes, 2 * kBytes});
}

TEST_CASE("sync_batch_norm: judged") { judge_rows("sync_batch_norm"); }

TEST_CASE("sync_batch_norm: mean and variance are those of all ranks' samples") {
  // The mean is 8 / 4, the variance 28 / 4 - 2 * 2 = 3, and √(variance + ε) is 2. The mean of dy is
  // 1, and that of dy y is 4 * 1.5 / 4: dx is (4 - 1 - 1.5 * 1.5) / 2 and (0 - 1 + 0.5 * 1.5) / 2.
  const auto ranks = on_ranks(4, normalizing);
  CHECK(ranks[0] == std::vector<Values>{{1.5}, {0.375}});
  CHECK(ranks[1] == std::vector<Values>{{-0.5, -0.5, -0.5}, {-0.125, -0.125, -0.125}});
  CHECK(ranks[2] == std::vector<Values>{{}, {}});
}

TEST_CASE("sync_batch_norm: three doubles forward, two backward") {
  CHECK(cost_of(4, normalizing) == Cost{2 + 2, 2 * (24 + 16), 2 * (24 + 16)});
}

TEST_CASE("checkpoint_rank0: judged") { judge_rows("checkpoint_rank0"); }

TEST_CASE("checkpoint_rank0: every rank resumes from rank 0's file") {
  CHECK(on_ranks(3, resuming) == every(3, {1, 1, 1, 3, 40}));
}

TEST_CASE("checkpoint_rank0: a barrier, a broadcast of both numbers, and one of the tensor") {
  CHECK(cost_of(4, resuming) == Cost{2 + 2 + 2, 2 * (16 + 12), 0});
}

TEST_CASE("exact_metrics: judged") { judge_rows("exact_metrics"); }

TEST_CASE("exact_metrics: sums over all ranks, divided by all samples") {
  CHECK(on_ranks(3, measuring) == every(3, {7.0 / 4, 3.0 / 4, 4}));
}

TEST_CASE("exact_metrics: three doubles, in one all-reduce") {
  CHECK(cost_of(8, measuring) == Cost{3, 3 * 24, 3 * 24});
}

}  // namespace rankbox
