// Measuring: every rank counts, every row is checked, and what is wrong is seen.
#include "cli/compare/session.h"

#include <atomic>
#include <chrono>
#include <csignal>

#include <doctest/doctest.h>

#include "cli/child.h"
#include "cli/compare/output.h"
#include "collectives/allreduce_ring.h"
#include "comm/run_ranks.h"

namespace rankbox::cli {
namespace {

using enum CollectiveKind;

/// A ring that forgets element 1 on the last rank.
void forgetful_ring(Comm& dist, Buffers& buffers, const CallSettings& settings) {
  allreduce_ring(dist, buffers.input, settings.op);
  if (dist.rank() == dist.world_size() - 1 && buffers.input.size() > 1) {
    detail::fill(Slice(buffers.input).sub(1, 2), 0.0);
  }
}

// On all ranks: collectives are not checked while times are taken, and MPI's cannot be called off.
void failing(Comm&, Buffers&, const CallSettings&) { throw Error("it hurts"); }

/// Those of the course, and one more.
Algorithms with(const char* name, void (*call)(Comm&, Buffers&, const CallSettings&)) {
  return [name, call](CollectiveKind collective) {
    std::vector<Algorithm> all = algorithms_of(collective);
    all.push_back({collective, name, call});
    return all;
  };
}

Plan quick_plan(const char* algorithm) {
  Plan plan;
  plan.threads = launch().processes == 0 ? 3 : 1;
  plan.min_bytes = 4;
  plan.max_bytes = 4096;
  plan.step_factor = 32;
  plan.iterations = 3;
  plan.warmup = 1;
  plan.algorithms = {algorithm};
  return plan;
}

std::vector<Row> measured(const Plan& plan, const Algorithms& algorithms = algorithms_of) {
  const int world_size = world_size_of(plan);
  std::vector<Row> rows;
  run_session(plan, jobs_of(plan, world_size, algorithms), world_size,
              {.on_row = [&](const Row& row) { rows.push_back(row); }});
  return rows;
}

TEST_CASE("every row has a time, a latency and its ratio to the native row of its size") {
  Plan plan = quick_plan("ring");
  plan.collectives = {kAllReduce, kAllGather};
  const std::vector<Row> rows = measured(plan);
  if (!launch().is_first()) return;
  REQUIRE(rows.size() == 12);  // two collectives, two algorithms, three sizes
  for (const Row& row : rows) {
    CAPTURE(name_of(row.collective));
    CAPTURE(row.algorithm);
    CAPTURE(row.bytes);
    CHECK(row.seconds > 0);
    CHECK(row.latency_seconds > 0);
    CHECK(row.wrong == 0);
    for (const Row& native : rows) {
      if (native.algorithm == "native" && native.collective == row.collective &&
          native.bytes == row.bytes) {
        CHECK(row.vs_native == doctest::Approx(row.seconds / native.seconds));
      }
    }
  }
}

TEST_CASE("wrong elements are counted over all ranks and checks") {
  Plan plan = quick_plan("forgetful");
  plan.checks = 2;
  for (const Row& row : measured(plan, with("forgetful", forgetful_ring))) {
    CAPTURE(row.algorithm);
    CAPTURE(row.count);
    CHECK(row.wrong == (row.algorithm == "forgetful" && row.count > 1 ? 2 : 0));
  }
}

TEST_CASE("every operation is checked, from any root") {
  Plan plan = quick_plan("tree");
  plan.collectives = {kReduce};
  plan.ops = {kReduceOps.begin(), kReduceOps.end()};
  plan.root = world_size_of(plan) - 1;
  for (const Row& row : measured(plan)) {
    CAPTURE(name_of(row.op));
    CHECK(row.wrong == 0);
    CHECK(row.root == plan.root);
  }
}

TEST_CASE("what is not to be checked is not") {
  Plan plan = quick_plan("forgetful");
  plan.checks = 0;
  for (const Row& row : measured(plan, with("forgetful", forgetful_ring))) {
    CHECK_FALSE(row.wrong.has_value());
  }
}

TEST_CASE("ranks of which the time is taken: rank 0, the mean, the least, the most") {
  Plan plan = quick_plan("native");
  for (const Average average : {Average::kRank0, Average::kMean, Average::kMin, Average::kMax}) {
    plan.average = average;
    for (const Row& row : measured(plan)) {
      CHECK(row.seconds > 0);
      CHECK(row.seconds < 10);
    }
  }
}

TEST_CASE("a failure names the row that it happened in") {
  std::string message;
  try {
    measured(quick_plan("failing"), with("failing", failing));
  } catch (const Error& error) {
    message = error.what();
  }
  CAPTURE(message);
  CHECK(message.find("it hurts") != std::string::npos);
  if (launch().is_first()) CHECK(message.find("all_reduce (failing) on ") == 0);
}

TEST_CASE("what cannot fit the memory is refused before anything is allocated") {
  Plan plan = quick_plan("native");
  plan.min_bytes = plan.max_bytes = std::int64_t{1} << 46;
  CHECK_THROWS_AS(measured(plan), InvalidArgument);
}

TEST_CASE("what the listener refuses ends the run before anything is measured, and at once") {
  Plan plan = quick_plan("native");
  const int world_size = world_size_of(plan);
  std::atomic<int> rows = 0;
  const Listener listener = {
      .on_start = [](const std::vector<Device>&) { throw InvalidArgument("not there"); },
      .on_row = [&](const Row&) { ++rows; }};
  const auto begin = std::chrono::steady_clock::now();
  CHECK_THROWS_AS(run_session(plan, jobs_of(plan, world_size), world_size, listener),
                  InvalidArgument);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
  CHECK(rows == 0);
}

TEST_CASE("a signal ends the run between two calls, on all ranks") {
  if (launch().processes > 1) return;  // each of several processes gets a signal of its own
  const InterruptGuard guard;
  const Plan plan = quick_plan("native");
  const int world_size = world_size_of(plan);
  const Listener listener = {.on_job = [](std::size_t number, const Job&) {
    if (number == 1) std::raise(SIGINT);
  }};
  CHECK_THROWS_AS(run_session(plan, jobs_of(plan, world_size), world_size, listener), Interrupted);
}

TEST_CASE("the listener hears of the devices first, then of each job before its row") {
  if (launch().processes > 0) return;  // told in one process only
  const Plan plan = quick_plan("ring");
  const int world_size = world_size_of(plan);
  std::string heard;
  run_session(
      plan, jobs_of(plan, world_size), world_size,
      {.on_start =
           [&](const std::vector<Device>& devices) {
             heard += "start" + std::to_string(devices.size());
           },
       .on_job = [&](std::size_t number, const Job&) { heard += " job" + std::to_string(number); },
       .on_row = [&](const Row&) { heard += " row"; }});
  CHECK(heard == "start3 job0 row job1 row job2 row job3 row job4 row job5 row");
}

Row named(CollectiveKind collective, const char* algorithm, double seconds) {
  Row row;
  row.collective = collective;
  row.algorithm = algorithm;
  row.bytes = 8;
  row.elements = 2;
  row.seconds = seconds;
  return row;
}

TEST_CASE("baselines come behind the native rows of their collective, and are compared with them") {
  const Plan plan;
  Output output(plan, {named(kAllReduce, "native-ring", 4), named(kReduce, "native-ring", 9)},
                false);
  output.start({});
  output.add(named(kAllReduce, "native", 2));
  output.add(named(kAllReduce, "ring", 5));
  output.add(named(kReduce, "native", 3));
  output.finish();
  const std::vector<Row>& rows = output.rows();
  REQUIRE(rows.size() == 5);
  CHECK(rows[1].algorithm == "native-ring");
  CHECK(rows[1].collective == kAllReduce);
  CHECK(rows[1].vs_native == 2);
  CHECK(rows[2].algorithm == "ring");
  CHECK(rows[4].collective == kReduce);
  CHECK(rows[4].vs_native == 3);
}

}  // namespace
}  // namespace rankbox::cli
