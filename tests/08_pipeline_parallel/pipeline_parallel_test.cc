// Chapter 8, as an instructor would test it: gradients and schedules that are worked out by hand,
// then the judge's rows. NAME_exercise_test runs a function's test cases on the learner's file.
#include <memory>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comm/memory_meter.h"
#include "judge/free_messages.h"
#include "parallel/model_parallel.h"
#include "parallel/pipeline_1f1b.h"
#include "parallel/pipeline_data_parallel.h"
#include "parallel/pipeline_gpipe.h"
#include "parallel/pipeline_interleaved.h"
#include "parallel/pipeline_zero_bubble.h"
#include "parallel/recompute.h"
#include "sim/clock/clock.h"
#include "tests/support/judge_rows.h"
#include "tests/support/on_ranks.h"
#include "training/layers/linear.h"

namespace rankbox {

namespace {

using Pipeline = void (*)(Comm& dist, Stage& stage);

/// Returns a model with one layer for each stage, without biases. The first layer turns a sample x
/// into (x, 0), the ones between leave that as it is, and the last computes two logits, x and x.
Model model_of(int stages) {
  Model model = {recipe<Linear>("first", from_host(Values{1, 0}, {2, 1}), Tensor())};
  for (int stage = 1; stage + 1 < stages; ++stage) {
    model.push_back(recipe<Linear>("between" + std::to_string(stage),
                                   from_host(Values{1, 0, 0, 1}, {2, 2}), Tensor()));
  }
  model.push_back(recipe<Linear>("last", from_host(Values{1, 1, 1, -1}, {2, 2}), Tensor()));
  return model;
}

// Equal logits give each class the probability 1/2, so the derivatives by a sample's logits are
// (-1/2, 1/2) for label 0 and (1/2, -1/2) for label 1, divided by the four samples. Sent back, they
// are (0, -1/4) and (0, 1/4). The weights that x is multiplied by get the sum over all samples:
//
//   (-1 - 2 - 3 + 4) / 4 = -1/2    in the last layer half of it, with either sign
const Values kOfFirst = {0, -0.5};
const Values kOfBetween = {0, 0, -0.5, 0};
const Values kOfLast = {-0.25, 0, 0.25, 0};

/// Returns a stage that is loaded with the samples 1, 2, 3 and 4 times `size`.
Stage loaded_stage(int number, int stages, int micro_batches, float size = 1) {
  const Model model = model_of(stages);
  Stage stage(model, cut_into_stages(model, {1}, stages)[static_cast<std::size_t>(number)]);
  const Values samples = {size, 2 * size, 3 * size, 4 * size};
  const Batch batch = {from_host(samples, {4, 1}), {0, 0, 0, 1}, {}, {}};
  stage.load(micro_batches_of(batch, micro_batches));
  return stage;
}

/// Makes a forward pass take one second and a backward pass two, labelled "F0" and "B0"; each of its
/// halves takes one, and the second is labelled "W0".
void take_time(Comm& dist, Stage& stage, const std::string& chunk = "") {
  stage.on_turn = [&dist, chunk](Turn turn, int micro_batch) {
    const char letter = turn == Turn::kForward ? 'F' : turn == Turn::kBackwardWeights ? 'W' : 'B';
    const std::string label = fmt::format("{}{}{}", letter, micro_batch, chunk);
    dist.compute(turn == Turn::kBackward ? 2 : 1, Label(label));
  };
}

Values gradient(Stage& stage) { return to_host(stage.parameters().front()->gradient); }

/// Returns a call of the function that returns the gradient of the rank's weights.
auto stepping(Pipeline pipeline, int micro_batches) {
  return [=](Comm& dist) {
    Stage stage = loaded_stage(dist.rank(), dist.world_size(), micro_batches);
    take_time(dist, stage);
    pipeline(dist, stage);
    return gradient(stage);
  };
}

/// Two micro-batches, and two chunks on each rank, a and b.
Values step_interleaved(Comm& dist) {
  const int p = dist.world_size();
  std::vector<Stage> chunks;
  for (const int number : {dist.rank(), dist.rank() + p})
    chunks.push_back(loaded_stage(number, 2 * p, 2));
  take_time(dist, chunks[0], "a");
  take_time(dist, chunks[1], "b");
  pipeline_interleaved(dist, chunks);
  Values both = gradient(chunks[0]);
  for (const float each : gradient(chunks[1])) both.push_back(each);
  return both;
}

/// Two pipelines of two stages. The second one's samples are three times as large.
Values step_on_a_grid(Comm& dist) {
  Stage stage = loaded_stage(dist.rank() % 2, 2, 2, dist.rank() < 2 ? 1.0F : 3.0F);
  pipeline_data_parallel(dist, stage, 2);
  return gradient(stage);
}

/// Three micro-batches of four samples differ in size.
void check_values(Pipeline pipeline) {
  for (const int micro_batches : {1, 2, 3, 4}) {
    CAPTURE(micro_batches);
    CHECK(on_ranks(3, stepping(pipeline, micro_batches)) ==
          std::vector<Values>{kOfFirst, kOfBetween, kOfLast});
  }
}

/// Returns a line for each rank: the label of its pass in each second, if messages take no time.
template <class Call>
std::string drawn(int p, Call call, const std::string& idle = "..") {
  const RunReport report = run_ranks({.world_size = p, .cluster = free_messages()}, call).report;
  const Replay replay = replay_trace(report.trace, free_messages());
  std::string lines;
  for (std::size_t rank = 0; rank < replay.spans.size(); ++rank) {
    std::vector<std::string> seconds(static_cast<std::size_t>(report.virtual_seconds), idle);
    for (std::size_t i = 0; i < replay.spans[rank].size(); ++i) {
      const Event& event = report.trace.ranks[rank][i];
      if (event.kind != EventKind::kCompute) continue;
      const auto begin = static_cast<std::size_t>(replay.spans[rank][i].begin);
      const auto end = static_cast<std::size_t>(replay.spans[rank][i].end);
      for (std::size_t second = begin; second < end; ++second)
        seconds[second] = label_of(event).text();
    }
    lines += fmt::format("{}\n", fmt::join(seconds, " "));
  }
  return lines;
}

/// Adds its number of passes to x, which it saves. Records its passes.
class Recording : public Layer {
 public:
  Recording(int number, std::string& passes) : number_(number), passes_(passes) {}

  Tensor forward(Tensor x, Saved& saved) override {
    passes_ += fmt::format("F{} ", number_);
    drawn_.value += full(1, 1);
    saved.push(clone(x));
    x += full(x.shape(), to_host(drawn_.value).front());
    return x;
  }
  Tensor backward(Tensor dy, Saved& saved) override {
    passes_ += fmt::format("B{} ", number_);
    saved.pop();
    return dy;
  }
  std::vector<NamedTensor*> statistics() override { return {&drawn_}; }

 private:
  NamedTensor drawn_ = {"passes", zeros(1)};
  int number_;
  std::string& passes_;
};

struct Recomputed {
  std::string passes;
  std::string state;           // of each layer: passes
  std::int64_t most_held = 0;  // in tensors of the batch's size
};

/// Runs recompute on one rank, with so many layers, and a batch of 64 samples of 64 elements.
Recomputed recomputed(int layers, int segments) {
  return on_ranks(1, [&](Comm& /*dist*/) {
    Recomputed result;
    Sequential model;
    for (int i = 0; i < layers; ++i)
      model.add(fmt::format("layer{}", i), std::make_unique<Recording>(i, result.passes));
    const Batch batch = {zeros({64, 64}), std::vector<std::int32_t>(64), {}, {}};
    Saved saved;
    Loss loss;
    MemoryMeter& meter = *current_memory_meter();
    meter.peak_bytes = meter.current_bytes;
    const auto before = meter.current_bytes;
    recompute(model, batch, segments, saved, loss);
    result.most_held = static_cast<std::int64_t>((meter.peak_bytes - before) / batch.x.bytes());
    for (const NamedTensor* each : model.statistics())
      result.state += fmt::format("{} ", to_host(each->value).front());
    return result;
  })[0];
}

}  // namespace

TEST_CASE("model_parallel: judged") { judge_rows("model_parallel"); }

TEST_CASE("model_parallel: each stage ends with the gradient of the mean loss") {
  check_values(model_parallel);
}

TEST_CASE("model_parallel: one rank works at a time, and the others wait") {
  CHECK(drawn(3, stepping(model_parallel, 2)) ==
        "F0 .. .. .. .. .. .. B0 B0 F1 .. .. .. .. .. .. B1 B1\n"
        ".. F0 .. .. .. B0 B0 .. .. .. F1 .. .. .. B1 B1 .. ..\n"
        ".. .. F0 B0 B0 .. .. .. .. .. .. F1 B1 B1 .. .. .. ..\n");
  // Each micro-batch goes down in two messages of 2 x 2 floats, and comes back in two.
  CHECK(cost_of(3, stepping(model_parallel, 2)) == Cost{2 * 4, 2 * 4 * 16, 0});
}

TEST_CASE("pipeline_gpipe: judged") { judge_rows("pipeline_gpipe"); }

TEST_CASE("pipeline_gpipe: each stage ends with the gradient of the mean loss") {
  check_values(pipeline_gpipe);
}

TEST_CASE("pipeline_gpipe: of 3 ranks with 4 micro-batches, each is idle for a third of the time") {
  // Each works for 4 * 3 of 18 seconds: (p - 1) / (m + p - 1) = 2 / 6.
  CHECK(drawn(3, stepping(pipeline_gpipe, 4)) ==
        "F0 F1 F2 F3 .. .. .. .. .. .. B0 B0 B1 B1 B2 B2 B3 B3\n"
        ".. F0 F1 F2 F3 .. .. .. B0 B0 B1 B1 B2 B2 B3 B3 .. ..\n"
        ".. .. F0 F1 F2 F3 B0 B0 B1 B1 B2 B2 B3 B3 .. .. .. ..\n");
}

TEST_CASE("pipeline_1f1b: judged") { judge_rows("pipeline_1f1b"); }

TEST_CASE("pipeline_1f1b: each stage ends with the gradient of the mean loss") {
  check_values(pipeline_1f1b);
}

TEST_CASE("pipeline_1f1b: GPipe's 18 seconds, with at most 3, 2 and 1 micro-batches in flight") {
  CHECK(drawn(3, stepping(pipeline_1f1b, 4)) ==
        "F0 F1 F2 .. .. .. .. B0 B0 F3 B1 B1 .. B2 B2 .. B3 B3\n"
        ".. F0 F1 .. .. B0 B0 F2 B1 B1 F3 B2 B2 .. B3 B3 .. ..\n"
        ".. .. F0 B0 B0 F1 B1 B1 F2 B2 B2 F3 B3 B3 .. .. .. ..\n");
}

TEST_CASE("pipeline_interleaved: judged") { judge_rows("pipeline_interleaved"); }

TEST_CASE("pipeline_interleaved: each of the four chunks ends with its gradient") {
  CHECK(on_ranks(2, step_interleaved) == std::vector<Values>{
                                             {0, -0.5, 0, 0, -0.5, 0},
                                             {0, 0, -0.5, 0, -0.25, 0, 0.25, 0},
                                         });
}

TEST_CASE("pipeline_interleaved: each rank is idle for one pass of a chunk in each direction") {
  // With its two chunks as one stage, every pass would take twice as long: (2 + 1) * 6 = 18 seconds
  // with a bubble of 6, instead of 15 with a bubble of 3.
  CHECK(drawn(2, step_interleaved, "...") ==
        "F0a F1a F0b F1b ... ... B0b B0b ... B1b B1b B0a B0a B1a B1a\n"
        "... F0a F1a F0b B0b B0b F1b B1b B1b B0a B0a B1a B1a ... ...\n");
}

TEST_CASE("pipeline_zero_bubble: judged") { judge_rows("pipeline_zero_bubble"); }

TEST_CASE("pipeline_zero_bubble: each stage ends with the gradient of the mean loss") {
  check_values(pipeline_zero_bubble);
}

TEST_CASE("pipeline_zero_bubble: a third of 1F1B's bubble, 2 of 14 seconds instead of 6 of 18") {
  // Each rank works for 4 * 3 seconds; (p-1)(F + B - W) = 2 are left.
  CHECK(drawn(3, stepping(pipeline_zero_bubble, 4)) ==
        "F0 F1 F2 .. .. B0 W0 F3 B1 W1 B2 W2 B3 W3\n"
        ".. F0 F1 .. B0 F2 B1 W0 F3 B2 W1 B3 W2 W3\n"
        ".. .. F0 B0 F1 B1 F2 B2 W0 F3 B3 W1 W2 W3\n");
}

TEST_CASE("pipeline_zero_bubble: with fewer micro-batches than ranks, 2p-1-m seconds are left") {
  CHECK(drawn(3, stepping(pipeline_zero_bubble, 1)) ==
        "F0 .. .. .. .. B0 W0\n"
        ".. F0 .. .. B0 W0 ..\n"
        ".. .. F0 B0 W0 .. ..\n");
}

TEST_CASE("recompute: judged") { judge_rows("recompute"); }

TEST_CASE("recompute: 7 layers in 3 segments run forward 2 * 7 - 3 times, in this order") {
  CHECK(recomputed(7, 3).passes == "F0 F1 F2 F3 F4 F5 F6 B6 B5 B4 F2 F3 B3 B2 F0 F1 B1 B0 ");
  CHECK(recomputed(3, 1).passes == "F0 F1 F2 B2 B1 B0 ");  // the last segment is all
  CHECK(recomputed(2, 5).passes == "F0 F1 B1 F0 B0 ");     // three segments are empty
}

TEST_CASE("recompute: the worst segment holds the inputs up to its own, and what its layers save") {
  // Every activation is one tensor, and four more may be at work. Segments of 16 layers in 4: the
  // inputs of segments 1, 2 and 3, and four tensors that the layers of segment 3 save.
  CHECK(recomputed(16, 4).most_held <= 3 + 4 + 4);
  CHECK(recomputed(16, 16).most_held <= 15 + 1 + 4);
}

TEST_CASE("recompute: a state that forward changes ends as after one forward") {
  CHECK(recomputed(7, 3).state == "1 1 1 1 1 1 1 ");
}

TEST_CASE("pipeline_data_parallel: judged") { judge_rows("pipeline_data_parallel"); }

TEST_CASE("pipeline_data_parallel: a stage's gradient is the mean of both replicas'") {
  // The samples of replica 1 are three times as large, and so are its gradients: the mean is twice
  // that of replica 0.
  const Values of_first = {0, -1};
  const Values of_last = {-0.5, 0, 0.5, 0};
  CHECK(on_ranks(4, step_on_a_grid) == std::vector<Values>{of_first, of_last, of_first, of_last});
}

TEST_CASE("pipeline_data_parallel: two splits, a pipeline, and an all-reduce in each column") {
  // A split of 4 ranks takes 2 steps. Down, up, down, up go messages of 2 x 2 floats. Then two
  // ranks swap the gradients of the last stage, which is the larger one: 4 floats.
  CHECK(cost_of(4, step_on_a_grid) == Cost{2 * 2 + 4 + 1, 4 * 16 + 16, 16});
}

}  // namespace rankbox
