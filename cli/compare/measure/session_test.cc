// Measurements: every rank counts, every row is checked, and wrong results are detected.
#include "cli/compare/measure/session.h"

#include <atomic>
#include <csignal>

#include <doctest/doctest.h>

#include "cli/compare/measure/backend.h"
#include "cli/support/child.h"
#include "collectives/allreduce_ring.h"
#include "comm/run_ranks.h"
#include "tests/support/run_tests.h"
#include "tests/support/text.h"

namespace rankbox::cli {
namespace {

using enum CollectiveKind;

/// A ring that omits element 1 on the last rank.
void forgetful_ring(Comm& dist, Buffers& buffers, const CallSettings& settings) {
  allreduce_ring(dist, buffers.input, settings.op);
  if (dist.rank() == dist.world_size() - 1 && buffers.input.size() > 1) {
    detail::fill(Slice(buffers.input).sub(1, 2), 0.0);
  }
}

// Throws on all ranks, which may wait for each other in a collective.
void failing(Comm&, Buffers&, const CallSettings&) { throw Error("it hurts"); }

/// Returns the course's algorithms and one more.
Algorithms with(const char* name, Whose whose, void (*call)(Comm&, Buffers&, const CallSettings&)) {
  return [=](CollectiveKind collective) {
    std::vector<Algorithm> all = algorithms_of(collective);
    all.push_back({collective, name, whose, call, {}, nullptr});
    return all;
  };
}

/// Under MPI a failed run ends the processes, unless there is only one.
bool failures_end_processes() {
#if defined(RANKBOX_BACKEND_MPI)
  if (launch().processes <= 1) return false;
  testing::pass_over("the failure would end these processes: supervisor_test.cc");
  return true;
#else
  return false;
#endif
}

int world_size() { return launch().processes == 0 ? 3 : launch().processes; }

Plan quick_plan(const char* algorithm) {
  Plan plan;
  plan.sizes = {4, 128, 4096};
  plan.iterations = 3;
  plan.calls = 2;
  plan.warmup = 1;
  plan.algorithms = {algorithm};
  return plan;
}

/// Returns all rows in the first process. The other processes take part and have no rows to check.
std::vector<Row> measured(const Plan& plan, const Algorithms& algorithms = algorithms_of) {
  std::vector<Row> rows;
  run_session(plan, contests_of(plan, world_size(), algorithms),
              {.on_contest = [&](const std::vector<Row>& contest) {
                rows.insert(rows.end(), contest.begin(), contest.end());
              }});
  if (!launch().is_first()) testing::pass_over("the first process has the rows");
  return rows;
}

TEST_CASE("every row has a time, a latency and its ratio to the native row of its contest") {
  Plan plan = quick_plan("ring");
  plan.collectives = {kAllReduce, kAllGather};
  const std::vector<Row> rows = measured(plan);
  if (!launch().is_first()) return;
  REQUIRE(rows.size() == 12);  // three sizes of two algorithms each
  double native = 0;
  for (const Row& row : rows) {
    CAPTURE(describe(row));
    REQUIRE(row.time.has_value());
    CHECK(row.time->median > 0);
    CHECK(row.time->q1 <= row.time->median);
    CHECK(row.time->median <= row.time->q3);
    CHECK(row.time->iterations == 3);
    CHECK(row.latency_seconds > 0);
    CHECK(row.p99_seconds >= row.latency_seconds);
    CHECK(row.wrong == 0);
    const bool is_native = row.whose == Whose::kNative;
    CHECK(row.mean_seconds.has_value() == (is_native && backend_name() == std::string("nccl")));
    CHECK(row.mean_seconds.value_or(1) > 0);
    if (is_native && label_of(row) == "native") native = row.time->median;
    CHECK(row.vs_native == doctest::Approx(row.time->median / native));
    CHECK_FALSE(row.vs_ring.has_value());
  }
}

TEST_CASE("vs ring is the ratio to the row of NCCL's ring") {
  const auto row_of = [](const char* algorithm, Whose whose, double seconds) {
    Row row;
    row.collective = kAllGather;
    row.algorithm = algorithm;
    row.whose = whose;
    row.time = Times{seconds, seconds, seconds, 5};
    return row;
  };
  std::vector<Row> rows = {row_of("native", Whose::kNative, 2),
                           row_of("native-ring", Whose::kNative, 4),
                           row_of("ring", Whose::kReference, 8)};
  rows.push_back(rows.back());
  rows.back().time.reset();
  set_ratios(rows);
  CHECK(rows[2].vs_native == 4);
  CHECK(rows[2].vs_ring == 2);
  CHECK(rows[0].vs_ring == 0.5);
  CHECK_FALSE(rows[3].vs_ring.has_value());
}

TEST_CASE("with -m, every collective is timed in groups where there are some, and stays right") {
  Plan plan = quick_plan("native");
  plan.collectives = {compared_collectives().begin(), compared_collectives().end()};
  plan.ops = {kReduceOps.begin(), kReduceOps.end()};
  plan.calls = 70;  // more than a pool has buffers, and than a rank's launches have events
  for (const Row& row : measured(plan)) {
    CAPTURE(describe(row));
    CAPTURE(name_of(row.op));
    CHECK(row.wrong == 0);
    CHECK(row.time.has_value());
  }
}

TEST_CASE("wrong elements of ours are counted over all ranks, and measured all the same") {
  Plan plan = quick_plan("forgetful");
  for (const Row& row : measured(plan, with("forgetful", Whose::kReference, forgetful_ring))) {
    CAPTURE(describe(row));
    CHECK(row.wrong == (row.algorithm == "forgetful" && row.elements > 1 ? 1 : 0));
    CHECK(row.time.has_value());
  }
}

TEST_CASE("yours fails if its result is wrong, and the others are measured") {
  Plan plan = quick_plan("forgetful");
  for (const Row& row : measured(plan, with("forgetful", Whose::kYours, forgetful_ring))) {
    CAPTURE(describe(row));
    const bool is_wrong = row.whose == Whose::kYours && row.elements > 1;
    CHECK(row.failure.has_value() == is_wrong);
    CHECK(row.time.has_value() == !is_wrong);
    if (is_wrong) CHECK(row.failure->kind == "values");
  }
}

TEST_CASE("yours fails if it throws, there and in what follows, and the others are measured") {
  if (failures_end_processes()) return;
  std::vector<Row> rows = measured(quick_plan("failing"), with("failing", Whose::kYours, failing));
  if (!launch().is_first()) return;
  CHECK(rows.size() == 6);
  for (const Row& row : rows) {
    CAPTURE(describe(row));
    CHECK(row.time.has_value() == (row.whose != Whose::kYours));
    CHECK(row.failure.has_value() == (row.whose == Whose::kYours));
  }
}

TEST_CASE("a failure of ours names the row that it happened in") {
  if (failures_end_processes()) return;
  std::string message;
  try {
    measured(quick_plan("failing"), with("failing", Whose::kReference, failing));
  } catch (const Error& error) {
    message = error.what();
  }
  CAPTURE(message);
  CHECK(testing::lacks(message, {"all_reduce failing", "it hurts"}) == "");
}

TEST_CASE("every operation is checked, from any root") {
  Plan plan = quick_plan("tree");
  plan.collectives = {kReduce};
  plan.ops = {kReduceOps.begin(), kReduceOps.end()};
  plan.root = world_size() - 1;
  for (const Row& row : measured(plan)) {
    CAPTURE(name_of(row.op));
    CHECK(row.wrong == 0);
    CHECK(row.root == plan.root);
  }
}

TEST_CASE("ranks of which the time is taken: rank 0, the mean, the least, the most") {
  Plan plan = quick_plan("native");
  for (const Average average : {Average::kRank0, Average::kMean, Average::kMin, Average::kMax}) {
    plan.average = average;
    for (const Row& row : measured(plan)) {
      REQUIRE(row.time.has_value());
      CHECK(row.time->median > 0);
    }
  }
}

TEST_CASE("where nothing is said, iterations and calls suit the row") {
  Plan plan = quick_plan("native");
  plan.iterations.reset();
  plan.calls.reset();
  for (const Row& row : measured(plan)) {
    CHECK(row.time->iterations >= 5);
    CHECK(row.time->iterations <= 50);
  }
}

TEST_CASE("what cannot fit the memory is refused before anything is allocated") {
  if (failures_end_processes()) return;
  Plan plan = quick_plan("native");
  plan.sizes = {std::int64_t{1} << 46};
  CHECK_THROWS_AS(measured(plan), InvalidArgument);
}

TEST_CASE("what the listener refuses ends the run before anything is measured") {
  if (failures_end_processes()) return;
  Plan plan = quick_plan("native");
  std::atomic<int> contests = 0;
  const Listener listener = {
      .on_start = [](const std::vector<Device>&) { throw InvalidArgument("not there"); },
      .on_contest = [&](const std::vector<Row>&) { ++contests; }};
  CHECK_THROWS_AS(run_session(plan, contests_of(plan, world_size(), algorithms_of), listener),
                  InvalidArgument);
  CHECK(contests == 0);
}

TEST_CASE("a signal ends the run between two calls, on all ranks") {
  if (failures_end_processes()) return;
  if (launch().processes > 1) return testing::pass_over("a signal reaches only one process");
  const InterruptGuard guard;
  const Plan plan = quick_plan("native");
  int jobs = 0;
  const Listener listener = {.on_job = [&](const Contest&, std::size_t) {
    if (++jobs == 5) std::raise(SIGINT);
  }};
  CHECK_THROWS_AS(run_session(plan, contests_of(plan, world_size(), algorithms_of), listener),
                  Interrupted);
}

TEST_CASE("the listener gets the devices first, then a report for each contest") {
  if (launch().processes > 0) return testing::pass_over("ranks are processes");
  const Plan plan = quick_plan("ring");
  std::string reported;
  run_session(plan, contests_of(plan, world_size(), algorithms_of),
              {.on_start =
                   [&](const std::vector<Device>& devices) {
                     reported += "start" + std::to_string(devices.size());
                   },
               .on_contest =
                   [&](const std::vector<Row>& rows) {
                     reported += " contest" + std::to_string(rows.size());
                   }});
  CHECK(reported == "start3 contest2 contest2 contest2");
}

}  // namespace
}  // namespace rankbox::cli
