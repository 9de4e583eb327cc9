// The learning rate's schedule, the best model, and what a checkpoint must hold of both.
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "compute/portable.h"
#include "tests/support/run_tests.h"
#include "tests/support/text.h"
#include "training/data/digits.h"
#include "training/models/mlp.h"
#include "training/run/learning_rate.h"
#include "training/run/session.h"
#include "training/run/stop_signal.h"

namespace rankbox::train {
namespace {

namespace fs = std::filesystem;

TEST_CASE("the rate grows in warm-up, then decays, to 0 after the last step") {
  const struct {
    Decay decay;
    std::int64_t warmup_steps;
    std::vector<double> rates;  // of 8 steps, in units of the plan's rate
  } table[] = {
      {Decay::kConstant, 0, {1, 1, 1, 1, 1, 1, 1, 1}},
      {Decay::kConstant, 4, {0.25, 0.5, 0.75, 1, 1, 1, 1, 1}},
      {Decay::kConstant, 8, {1. / 8, 2. / 8, 3. / 8, 4. / 8, 5. / 8, 6. / 8, 7. / 8, 1}},
      {Decay::kLinear, 0, {1, 7. / 8, 6. / 8, 5. / 8, 4. / 8, 3. / 8, 2. / 8, 1. / 8}},
      {Decay::kLinear, 4, {0.25, 0.5, 0.75, 1, 1, 0.75, 0.5, 0.25}},
      {Decay::kCosine,
       4,
       {0.25, 0.5, 0.75, 1, 1, (1 + std::sqrt(0.5)) / 2, 0.5, (1 - std::sqrt(0.5)) / 2}},
  };
  for (const auto& row : table) {
    Plan plan;
    plan.learning_rate = 0.3;
    plan.decay = row.decay;
    plan.warmup_steps = row.warmup_steps;
    CAPTURE(name_of(row.decay));
    CAPTURE(row.warmup_steps);
    for (std::int64_t step = 0; step < 8; ++step) {
      CAPTURE(step);
      CHECK(learning_rate_at(plan, step, 8) ==
            doctest::Approx(0.3 * row.rates[static_cast<std::size_t>(step)]));
    }
  }
}

Task small_task() {
  return {digits({.train = 130, .test = 31}), mlp({.hidden = {16}}), "small mlp", ""};
}

/// 3 epochs of 4 steps of 2 batches, on 2 ranks.
Plan small_plan(const std::string& strategy) {
  Plan plan;
  plan.strategy = strategy;
  plan.ranks = 2;
  plan.batch = 16;
  plan.accumulate = 2;
  plan.epochs = 3;
  plan.learning_rate = 0.1;
  plan.warmup_steps = 3;
  plan.decay = Decay::kCosine;
  plan.weight_decay = 0.01;
  plan.momentum = 0.8;
  plan.eval_every = 3;
  const char* folder = std::getenv("TEST_TMPDIR");
  plan.save = std::string(folder == nullptr ? "/tmp" : folder) + "/schedule.ckpt";
  return plan;
}

/// What rank 0 saw: steps and scores of the evaluations.
struct Seen {
  std::vector<std::int64_t> steps;
  std::vector<double> scores;
  std::int64_t best_steps = 0;
};

Listener listener_of(Seen& seen) {
  return {.on_evaluation = [&seen](const Position& now, const Evaluation& test, bool is_best) {
    seen.steps.push_back(now.steps);
    seen.scores.push_back(test.f1);
    if (is_best) seen.best_steps = now.steps;
  }};
}

/// Learns nothing, and records its rates.
class RateTrainer : public Trainer {
 public:
  std::vector<double> rates;

  DataShare data_share() const override { return {}; }
  void start() override {}
  Loss step(std::vector<Batch> batches, std::int64_t /*number*/) override {
    return {1, static_cast<std::int64_t>(batches.size()), 0, {}};
  }
  ScheduledOptimizer& optimizer() override { return optimizer_; }
  Loss evaluate(Batch batch, ClassCounts& /*counts*/) override { return {1, batch.size(), 0, {}}; }
  std::vector<Parameter*> parameters() override { return {}; }
  void add_state(TrainingState& /*state*/) override {}

 private:
  class Recorder : public ScheduledOptimizer {
   public:
    explicit Recorder(std::vector<double>& rates) : rates_(rates) {}
    void step() override {}
    std::vector<NamedTensor*> state() override { return {}; }
    void set_learning_rate(double rate) override { rates_.push_back(rate); }

   private:
    std::vector<double>& rates_;
  };
  Recorder optimizer_{rates};
};

TEST_CASE("every step takes the rate of its number in the whole run, of all epochs") {
  const Task task = small_task();
  Plan plan = small_plan("single");
  plan.save.clear();
  const auto run = run_ranks({.world_size = 1, .trace = false}, [&](Comm& dist) {
    RateTrainer trainer;
    Position position;
    run_loop(dist, trainer, plan, task.data, Checkpointing(plan, task), {}, position);
    return trainer.rates;
  });
  std::vector<double> expected;
  for (std::int64_t step = 0; step < 12; ++step)
    expected.push_back(learning_rate_at(plan, step, 12));
  CHECK(run.results.front() == expected);
}

TEST_CASE(
    "evaluated every 3 steps and after epochs, the best model is kept, and loaded at the end") {
  if (launch().processes > 0 && launch().processes != 2) return;
  const Task task = small_task();
  for (const char* strategy : {"ddp", "zero3", "tensor", "pipeline", "dp"}) {
    CAPTURE(std::string(strategy));
    Plan plan = small_plan(strategy);
    plan.learning_rate = 1;  // so large that the last model is not the best
    plan.decay = Decay::kConstant;
    plan.keep_best = BestBy::kF1;
    Seen seen;
    const Outcome kept = run_session(plan, task, listener_of(seen));
    CHECK(kept.is_complete);
    if (!launch().is_first()) continue;
    CHECK(seen.steps == std::vector<std::int64_t>{3, 4, 6, 8, 9, 12});
    CHECK(kept.best_steps < 12);
    const auto best = std::ranges::max_element(seen.scores);
    CHECK(kept.best_steps == seen.best_steps);
    CHECK(kept.best_steps ==
          seen.steps[static_cast<std::size_t>(best - seen.scores.begin())]);  // the first of equals
    CHECK(kept.test.f1 == doctest::Approx(*best).epsilon(1e-12));
    CHECK(kept.end.steps == 12);
    CHECK(fs::exists(plan.save + ".best"));
  }
}

TEST_CASE("stopped at any step, a run with schedule and best model ends with the same bits") {
  if (launch().processes > 0 && launch().processes != 2) return;
  const Task task = small_task();
  const struct {
    const char* strategy;
    Precision precision;
    std::vector<std::int64_t> last_steps;
  } table[] = {{"ddp", Precision::kFp32, {2, 3, 4, 11}}, {"ddp", Precision::kMixed, {7}},
               {"zero1", Precision::kMixed, {7}},        {"zero2", Precision::kBf16, {7}},
               {"zero3", Precision::kMixed, {7}},        {"tensor", Precision::kMixed, {7}},
               {"pipeline", Precision::kMixed, {7}},     {"dp", Precision::kMixed, {7}}};
  const bool is_slow = kOnGpu && std::getenv("RANKBOX_EMULATED_GPUS") != nullptr;
  for (const auto& row : table) {
    if (is_slow && row.last_steps[0] == 7 && std::string(row.strategy) != "zero3") continue;
    Plan plan = small_plan(row.strategy);
    plan.precision = row.precision;
    plan.keep_best = BestBy::kAccuracy;
    plan.save_every = 1;
    CAPTURE(std::string(row.strategy));
    CAPTURE(name_of(row.precision));
    std::map<std::int64_t, std::string> files;  // as they were after these steps
    const auto keep = [&](const Position& now) {
      std::string& file = files[now.steps];
      file = plan.save + "." + std::to_string(now.steps);
      fs::copy_file(plan.save, file, fs::copy_options::overwrite_existing);
    };
    const Outcome whole = run_session(plan, task, {.on_save = keep});
    for (const std::int64_t last_step : row.last_steps) {
      CAPTURE(last_step);
      if (launch().is_first())
        fs::copy_file(files.at(last_step), plan.save, fs::copy_options::overwrite_existing);
      plan.resume = true;
      Position from;
      std::vector<std::string> notes;
      const auto note = [&](const Position& position, const std::vector<std::string>& lines) {
        from = position;
        notes = lines;
      };
      const Outcome resumed = run_session(plan, task, {.on_start = note});
      CHECK(resumed.digests == whole.digests);
      if (!launch().is_first()) continue;
      CHECK(from.steps == last_step);
      for (const std::string& text : notes) CHECK(testing::lacks(text, {".best"}) == "");
      CHECK(resumed.end == whole.end);
      CHECK(resumed.best_steps == whole.best_steps);
    }
  }
}

TEST_CASE("a best model that the run has abandoned is not loaded, and its score not compared") {
  if (launch().processes > 1) return testing::pass_over("files are changed between runs");
  const Task task = small_task();
  Plan plan = small_plan("ddp");
  plan.keep_best = BestBy::kF1;
  const std::string saved = plan.save + ".saved";
  const Outcome whole =
      run_session(plan, task, {.on_save = [&](const Position& now) {
                    if (now.steps == 4)
                      fs::copy_file(plan.save, saved, fs::copy_options::overwrite_existing);
                  }});
  REQUIRE(whole.best_steps > 4);

  fs::copy_file(saved, plan.save, fs::copy_options::overwrite_existing);
  plan.resume = true;
  plan.learning_rate = 1e-6;  // so small that no score is higher than that of step 4
  Seen seen;
  Listener listener = listener_of(seen);
  std::string text;
  listener.on_start = [&](const Position&, const auto& notes) {
    for (const std::string& note : notes) text += note + "; ";
  };
  const Outcome resumed = run_session(plan, task, listener);
  CAPTURE(text);
  CHECK(testing::lacks(text, {".best", "step " + std::to_string(whole.best_steps), "step 4"}) ==
        "");
  CHECK(seen.steps.front() == 6);
  CHECK(resumed.best_steps == seen.best_steps);
  CHECK(resumed.test_steps == seen.best_steps);
  CHECK(resumed.test.f1 == doctest::Approx(*std::ranges::max_element(seen.scores)));
}

TEST_CASE("the metrics of a run that is stopped are those of its last epoch, and say so") {
  if (launch().processes > 1) return testing::pass_over("a signal to one process of several");
  const Task task = small_task();
  Plan plan = small_plan("ddp");
  plan.save.clear();
  const StopSignal stop;
  const Outcome stopped =
      run_session(plan, task, {.on_step = [](const Position& now, std::int64_t, const Metrics&) {
                    if (now.steps == 5) std::raise(SIGUSR1);  // ranks agree on it in the next step
                  }});
  CHECK(!stopped.is_complete);
  CHECK(stopped.end.steps == 6);
  CHECK(stopped.test.samples > 0);
  CHECK(stopped.test_steps == 4);
}

TEST_CASE("what may differ is noted, and what may not is refused in one line") {
  if (launch().processes > 1) return testing::pass_over("a refusal ends the processes");
  const Task task = small_task();
  Plan plan = small_plan("ddp");
  plan.epochs = 1;
  run_session(plan, task, {});
  plan.epochs = 2;
  plan.resume = true;
  const auto with = [&](auto change) {
    Plan other = plan;
    change(other);
    return other;
  };
  const struct {
    Plan plan;
    std::vector<std::string> parts;  // of the notes or the refusal
    bool is_refused;
  } table[] = {
      {with([](Plan& p) { p.weight_decay = 0.5; }), {"weight decay 0.5", "0.01"}, false},
      {with([](Plan& p) { p.momentum = 0.7; }), {"momentum 0.7", "0.8"}, false},
      {with([](Plan& p) { p.clip_norm = 2; }), {"clip norm 2", "none"}, false},
      {with([](Plan& p) { p.decay = Decay::kLinear; }), {"linear to step 8", "cosine"}, false},
      {with([](Plan& p) { p.warmup_steps = 1; }), {"warm-up of 1", "warm-up of 3"}, false},
      {with([](Plan& p) { p.keep_best = BestBy::kF1; }), {"best model"}, false},
      {with([](Plan& p) { p.accumulate = 1; }), {"--accumulate 2", "1"}, true},
      {with([](Plan& p) { p.momentum = 0; }), {"without momentum"}, true},
  };
  const std::string saved = plan.save + ".saved";
  fs::copy_file(plan.save, saved, fs::copy_options::overwrite_existing);
  for (const auto& row : table) {
    CAPTURE(row.parts[0]);
    fs::copy_file(saved, plan.save, fs::copy_options::overwrite_existing);
    std::string text;
    bool is_refused = false;
    try {
      run_session(row.plan, task, {.on_start = [&](const Position&, const auto& notes) {
                    for (const std::string& note : notes) text += note + "; ";
                  }});
    } catch (const InvalidArgument& error) {
      is_refused = true;
      text = error.what();
    }
    CAPTURE(text);
    CHECK(is_refused == row.is_refused);
    CHECK(testing::lacks(text, row.parts) == "");
  }
}

}  // namespace
}  // namespace rankbox::train
