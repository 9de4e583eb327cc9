// Interrupted and resumed runs end with the same bits as uninterrupted ones.
//
// Checkpoints of other runs are rejected.
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "comm/run_ranks.h"
#include "compute/portable.h"
#include "tests/support/run_tests.h"
#include "tests/support/text.h"
#include "training/data/digits.h"
#include "training/data/sentences.h"
#include "training/models/conv_net.h"
#include "training/models/mlp.h"
#include "training/models/text_transformer.h"
#include "training/run/moe_model.h"
#include "training/run/session.h"

namespace rankbox::train {
namespace {

namespace fs = std::filesystem;

/// 8 steps per epoch with batches of 16.
Task small_task(const std::string& name) {
  Task task;
  task.model_name = "small " + name;
  if (name == "transformer") {
    TextSplit texts = sentences({.train = 130, .test = 31, .longest = 12});
    task.data = std::move(texts.split);
    task.model = text_transformer(
        {.vocabulary = texts.vocabulary, .longest = 12, .width = 16, .heads = 2, .blocks = 1});
    return task;
  }
  task.data = digits({.train = 130, .test = 31});
  if (name == "moe") {
    task.model = moe({.width = 8});
    task.experts = 8;
    return task;
  }
  task.model = name == "convnet" ? conv_net({.filters1 = 2, .filters2 = 4}) : mlp({.hidden = {16}});
  return task;
}

Plan small_plan(int ranks) {
  Plan plan;
  plan.strategy = ranks == 1 ? "single" : "ddp";
  plan.ranks = ranks;
  plan.batch = 16;
  plan.epochs = 3;
  plan.learning_rate = 0.05;
  return plan;
}

/// Returns the same path in all processes. No file is there at the start of a test.
std::string checkpoint_path(const std::string& name) {
  const char* folder = std::getenv("TEST_TMPDIR");
  return std::string(folder == nullptr ? "/tmp" : folder) + "/" + name + ".ckpt";
}

/// Changes files on rank 0, between barriers of all processes: none changes a file that another has
/// yet to read.
void on_rank_0(const std::function<void()>& change) {
  const int processes = std::max(launch().processes, 1);
  run_ranks({.world_size = processes, .trace = false}, [&](Comm& dist) {
    dist.barrier();
    if (dist.rank() == 0) change();
    dist.barrier();
  });
}

void remove_together(const std::string& path) {
  on_rank_0([&] { fs::remove(path); });
}

/// Leaves the checkpoint as if rank 0 had died after that step.
void run_until(const Plan& plan, const Task& task, std::int64_t last_step) {
  if (launch().processes > 1) {  // a failure would end the processes, and this test
    const std::string then = plan.save + ".then";
    const Listener keeps = {.on_step = [&](const Position& now, std::int64_t, const Metrics&) {
      if (now.steps == last_step && fs::exists(plan.save)) fs::copy_file(plan.save, then);
    }};
    run_session(plan, task, keeps);
    on_rank_0(
        [&] { fs::exists(then) ? fs::rename(then, plan.save) : void(fs::remove(plan.save)); });
    return;
  }
  const Listener dies = {.on_step = [&](const Position& now, std::int64_t, const Metrics&) {
    if (now.steps == last_step) throw std::runtime_error("dies");
  }};
  CHECK_THROWS_AS(run_session(plan, task, dies), Error);
}

std::vector<int> world_sizes() {
  if (launch().processes == 0) return {1, 2};
  return {launch().processes};  // 2, from the BUILD file
}

TEST_CASE("a run that dies after any step resumes from its last checkpoint to the same bits") {
  const struct {
    const char* model;
    OptimizerKind optimizer;
  } table[] = {{"mlp", OptimizerKind::kSgd},
               {"convnet", OptimizerKind::kAdam},       // statistics of batch norm
               {"transformer", OptimizerKind::kAdam}};  // dropout, counted steps
  for (const auto& row : table) {
    const Task task = small_task(row.model);
    for (const int ranks : world_sizes()) {
      Plan plan = small_plan(ranks);
      plan.optimizer = row.optimizer;
      CAPTURE(row.model);
      CAPTURE(ranks);
      const Outcome whole = run_session(plan, task, {});
      REQUIRE(whole.is_complete);

      plan.save = checkpoint_path("dies");
      plan.save_every = 3;
      // In the middle, before the first save of an epoch, at its end, at the very end.
      std::vector<std::int64_t> last_steps = {4, 8, 10, 16, 23, 24};
      // Emulated GPUs are slow.
      if (kOnGpu && std::getenv("RANKBOX_EMULATED_GPUS") != nullptr) last_steps = {10};
      for (const std::int64_t last_step : last_steps) {
        CAPTURE(last_step);
        remove_together(plan.save);
        plan.resume = false;
        run_until(plan, task, last_step);
        plan.resume = true;
        Position from;
        const Outcome resumed = run_session(
            plan, task,
            {.on_start = [&](const Position& position, const auto&) { from = position; }});
        if (launch().is_first()) {
          CHECK(from.steps > 0);
          CHECK(from.steps < last_step);
          CHECK(resumed.end == whole.end);
          CHECK(resumed.test.loss == whole.test.loss);
          CHECK(resumed.test.accuracy == whole.test.accuracy);
        }
        CHECK(resumed.digests == whole.digests);
      }
    }
  }
}

TEST_CASE("with any strategy, a run that died resumes to the same bits") {
  for (const Strategy* strategy : strategies()) {
    const Task task = small_task(strategy == &kExpert ? "moe" : "mlp");
    const int ranks = strategy == &kSingle ? 1 : 2;
    if (launch().processes > 0 && launch().processes != ranks) continue;
    for (const OptimizerKind optimizer : {OptimizerKind::kSgd, OptimizerKind::kAdam}) {
      Plan plan = small_plan(ranks);
      plan.strategy = strategy->name;
      plan.optimizer = optimizer;
      CAPTURE(plan.strategy);
      CAPTURE(name_of(optimizer));
      const Outcome whole = run_session(plan, task, {});
      plan.save = checkpoint_path("strategy");
      plan.save_every = 3;
      remove_together(plan.save);
      run_until(plan, task, 10);
      plan.resume = true;
      const Outcome resumed = run_session(plan, task, {});
      CHECK(resumed.digests == whole.digests);
      if (launch().is_first()) {
        CHECK(resumed.end == whole.end);
        CHECK(resumed.expert_loads == whole.expert_loads);
      }
    }
  }
}

TEST_CASE("a checkpoint is complete: another strategy resumes from it to the same loss") {
  if (launch().processes > 2) return testing::pass_over("more than 2 processes");
  for (const Strategy* strategy : strategies()) {
    if (strategy == &kSingle) continue;
    CAPTURE(std::string(strategy->name));
    const Task task = small_task(strategy == &kExpert ? "moe" : "mlp");
    Plan plan = small_plan(2);
    const Outcome whole = run_session(plan, task, {});
    plan.save = checkpoint_path("other");
    plan.save_every = 3;
    remove_together(plan.save);
    plan.strategy = strategy->name;
    plan.resume = false;
    run_until(plan, task, 13);
    plan.strategy = "ddp";
    plan.resume = true;
    const Outcome resumed = run_session(plan, task, {});
    CHECK(resumed.is_complete);
    if (launch().is_first()) {
      CHECK(resumed.end == whole.end);
      CHECK(resumed.test.loss == doctest::Approx(whole.test.loss).epsilon(1e-3));
    }
  }
}

TEST_CASE("more epochs continue where fewer ended") {
  const Task task = small_task("mlp");
  const int ranks = world_sizes().front();
  Plan plan = small_plan(ranks);
  const Outcome whole = run_session(plan, task, {});
  plan.save = checkpoint_path("epochs");
  remove_together(plan.save);
  plan.epochs = 1;
  run_session(plan, task, {});
  plan.epochs = 3;
  plan.resume = true;
  const Outcome resumed = run_session(plan, task, {});
  CHECK(resumed.digests == whole.digests);
  CHECK(resumed.digests.size() == static_cast<std::size_t>(ranks));

  // Nothing is left to train: the model is evaluated, and unchanged.
  const Outcome again = run_session(plan, task, {});
  CHECK(again.digests == whole.digests);
  if (launch().is_first()) CHECK(again.test.loss == whole.test.loss);
}

TEST_CASE("a checkpoint of another run is refused, in one line that names the difference") {
  if (launch().processes > 1) return testing::pass_over("a refusal ends the processes");
  const int ranks = world_sizes().front();
  const Task task = small_task("mlp");
  Plan plan = small_plan(ranks);
  plan.save = checkpoint_path("other");
  plan.epochs = 1;
  run_session(plan, task, {});
  plan.resume = true;
  const auto complaint = [&](const Plan& other, const Task& of) {
    try {
      run_session(other, of, {});
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  Plan batch = plan, seed = plan, optimizer = plan, missing = plan;
  batch.batch = 32;
  seed.seed = 7;
  optimizer.optimizer = OptimizerKind::kAdam;
  missing.save += ".none";
  Task less = small_task("mlp");
  less.data.train.labels[5] ^= 1;
  const struct {
    const Plan& plan;
    const Task& task;
    std::vector<std::string> values;
  } table[] = {{batch, task, {"--batch 16", "32"}},
               {seed, task, {"--seed 1", "7"}},
               {optimizer, task, {"adam"}},
               {plan, small_task("convnet"), {"small convnet"}},
               {plan, less, {}},
               {missing, task, {missing.save}}};
  for (const auto& row : table) {
    const std::string line = complaint(row.plan, row.task);
    CAPTURE(line);
    CHECK(testing::lacks(line, row.values) == "");
    CHECK(line.find(plan.save) != std::string::npos);
    CHECK(line.find('\n') == std::string::npos);
  }
  CHECK(complaint(plan, task).empty());
}

TEST_CASE("another learning rate or number of ranks may resume, with a note") {
  if (launch().processes > 0) return testing::pass_over("needs worlds of several sizes");
  const Task task = small_task("mlp");
  Plan plan = small_plan(2);
  plan.save = checkpoint_path("ranks");
  plan.epochs = 1;
  run_session(plan, task, {});
  plan.resume = true;
  plan.epochs = 2;
  plan.ranks = 4;
  plan.learning_rate = 0.01;
  std::vector<std::string> notes;
  const Outcome outcome = run_session(
      plan, task,
      {.on_start = [&](const Position&, const std::vector<std::string>& lines) { notes = lines; }});
  CHECK(outcome.is_complete);
  REQUIRE(notes.size() == 2);
  CHECK(testing::lacks(notes[0], {"2", "4"}) == "");
  CHECK(testing::lacks(notes[1], {"0.01", "0.05"}) == "");
}

TEST_CASE("a path that cannot be written is refused before training") {
  if (launch().processes > 1) return testing::pass_over("a refusal ends the processes");
  const Task task = small_task("mlp");
  const int ranks = world_sizes().front();
  Plan plan = small_plan(ranks);
  int steps = 0;
  const Listener counts = {
      .on_step = [&](const Position&, std::int64_t, const Metrics&) { ++steps; }};
  const std::string pipe = checkpoint_path("pipe");
  fs::remove(pipe);
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  for (const std::string& place :
       {std::string("/no/such/folder/run.ckpt"), std::string("/tmp"), pipe}) {
    plan.save = place;
    CHECK_THROWS_AS(run_session(plan, task, counts), InvalidArgument);
    CHECK(steps == 0);
  }
}

}  // namespace
}  // namespace rankbox::train
