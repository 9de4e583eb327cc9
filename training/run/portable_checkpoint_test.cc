// Checkpoints carry a run from one backend to another.
//
// sandbox.ckpt is what the sandbox saved after the first epoch of the plan below. After a change of
// the format or the plan, replace it by the file that the second test case wrote in the sandbox.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "training/models/mlp.h"
#include "training/run/session.h"

namespace rankbox::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFromSandbox = "training/run/sandbox.ckpt";
// The same, saved before there were schedules and best models: with the defaults of both.
constexpr const char* kOlder = "training/run/older.ckpt";
constexpr std::int64_t kStepsOfEpoch = 4;

/// Its numbers are the same on every machine.
Dataset points(std::int64_t samples) {
  Dataset dataset{.sample_shape = 6, .values = {}, .labels = {}, .classes = 3};
  for (std::int64_t i = 0; i < samples; ++i) {
    for (std::int64_t k = 0; k < 6; ++k)
      dataset.values.push_back(static_cast<float>((i * 7 + k * 5) % 11) / 8);
    dataset.labels.push_back(static_cast<std::int32_t>(i % 3));
  }
  return dataset;
}

Task small_task() {
  return {{points(16), points(5)}, mlp({.inputs = 6, .hidden = {4}, .classes = 3}), "small", ""};
}

/// Returns a plan with this strategy, which saves to a file of this test.
Plan plan_of(const Strategy& strategy, int ranks) {
  Plan plan;
  plan.strategy = strategy.name;
  plan.ranks = ranks;
  plan.batch = 16 / kStepsOfEpoch;
  plan.optimizer = OptimizerKind::kAdam;
  plan.learning_rate = 0.01;
  const char* const folder = std::getenv("TEST_TMPDIR");
  plan.save = std::string(folder == nullptr ? "/tmp" : folder) + "/" + plan.strategy + ".ckpt";
  return plan;
}

/// Calls fn with the plan of each strategy that can run here.
template <class Fn>
void for_each_strategy(Fn fn) {
  for (const Strategy* const strategy : strategies()) {
    if (strategy == &kExpert) continue;  // the files are of a model without experts
    const int ranks = strategy == &kSingle ? 1 : 2;
    if (launch().processes > 0 && launch().processes != ranks) continue;
    CAPTURE(std::string(strategy->name));
    fn(plan_of(*strategy, ranks));
  }
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The parts of a checkpoint (training/checkpoint.h).
struct Parts {
  std::string description;
  std::vector<float> elements;
};

Parts parts_of(const std::string& path) {
  const std::string bytes = read(path);
  constexpr std::size_t kBegin = 16 + 8, kChecksum = 8;
  REQUIRE(bytes.size() > kBegin + kChecksum);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data() + 16, sizeof(length));
  Parts parts{bytes.substr(kBegin, length), {}};
  parts.elements.resize((bytes.size() - kBegin - length - kChecksum) / sizeof(float));
  std::memcpy(parts.elements.data(), bytes.data() + kBegin + length,
              parts.elements.size() * sizeof(float));
  // It records the ranks that wrote it, and may be read by any number.
  const std::size_t ranks = parts.description.find("\"ranks\":");
  REQUIRE(ranks != std::string::npos);
  parts.description.erase(ranks, std::strlen("\"ranks\":1"));
  return parts;
}

TEST_CASE("with any strategy, a run that the sandbox began goes on to the losses of the sandbox") {
  const double expected[] = {1.04745, 1.14652, 0.983779, 1.31679,
                             1.27755, 1.03587, 1.03113,  1.09304};
  for_each_strategy([&](Plan plan) {
    const char* const file = plan.strategy.starts_with("zero") ? kOlder : kFromSandbox;
    plan.save += launch().is_first() ? "" : ".other";  // only rank 0 reads it
    fs::copy_file(file, plan.save, fs::copy_options::overwrite_existing);
    plan.resume = true;
    plan.epochs = 3;
    std::vector<double> losses;
    const Listener listener = {
        .on_start = [&](const Position& from, const auto&) { CHECK(from.steps == kStepsOfEpoch); },
        .on_step = [&](const Position&, std::int64_t,
                       const Metrics& batch) { losses.push_back(batch.loss); }};
    CHECK(run_session(plan, small_task(), listener).is_complete);
    if (!launch().is_first()) return;
    REQUIRE(losses.size() == std::size(expected));
    for (std::size_t i = 0; i < losses.size(); ++i)
      CHECK(losses[i] == doctest::Approx(expected[i]).epsilon(1e-4));
  });
}

TEST_CASE("with any strategy, what is saved here is what the sandbox saves, up to rounding") {
  for_each_strategy([&](Plan plan) {
    plan.epochs = 1;
    CHECK(run_session(plan, small_task(), {}).is_complete);
    if (!launch().is_first()) return;
    const Parts here = parts_of(plan.save), there = parts_of(kFromSandbox);
    CAPTURE(plan.save);
    CHECK(here.description == there.description);
    REQUIRE(here.elements.size() == there.elements.size());
    // Squares of gradients are as small as 1e-8.
    for (std::size_t i = 0; i < here.elements.size(); ++i) {
      CAPTURE(i);
      const float is = here.elements[i], expected = there.elements[i];
      CHECK(std::abs(is - expected) <= 1e-4f * std::abs(expected) + 1e-8f);
    }
  });
}

}  // namespace
}  // namespace rankbox::train
