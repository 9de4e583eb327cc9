// Thousands of random programs, matched and broken: each must end as the reference model says, with
// the values it says, and none may hang.
//
//   RANKBOX_STRESS_SEED=123  runs the programs of that seed alone, many times
//   RANKBOX_STRESS_RUNS=500  runs so many programs of each sort
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/sim/observe.h"
#include "tests/sim/random_program.h"
#include "tests/sim/reference_model.h"

namespace rankbox::testing {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t kRuns = 600;
#else
constexpr std::uint64_t kRuns = 2000;
#endif
constexpr std::chrono::seconds kPatience{20};

// ---- Running a program
// ----------------------------------------------------------------------------------------------

/// The elements of one operation: of int64, or of float64.
class Box {
 public:
  Box() = default;
  Box(std::int64_t count, bool doubles, std::int64_t value) : is_doubles_(doubles) {
    if (doubles) {
      std::vector<double> host;
      for (std::int64_t i = 0; i < count; ++i) host.push_back(static_cast<double>(value + i));
      doubles_ = from_host(host);
    } else {
      std::vector<std::int64_t> host;
      for (std::int64_t i = 0; i < count; ++i) host.push_back(value + i);
      ints_ = from_host(host);
    }
  }
  Slice slice() { return is_doubles_ ? Slice(doubles_) : Slice(ints_); }
  std::uint64_t digest() const {
    if (!is_doubles_) return testing::digest(to_host(ints_));
    const std::vector<double> host = to_host(doubles_);
    return testing::digest(std::vector<std::int64_t>(host.begin(), host.end()));
  }

 private:
  bool is_doubles_ = false;
  TensorOf<std::int64_t> ints_;
  TensorOf<double> doubles_;
};

/// One operation under way: its memory, and its request, which goes first when they are destroyed.
struct Operation {
  Box box;
  Box gathered;
  bool receives = false;
  bool gathers = false;
  Request request;
};

/// One rank's walk through its steps.
class Walker {
 public:
  Walker(const Program& program, Comm& dist) : program_(program), comms_(program.groups.size()) {
    comms_[0] = dist;
  }

  std::vector<std::uint64_t> walk() {
    const int me = comms_[0]->rank();
    for (const Step& step : program_.ranks[static_cast<std::size_t>(me)]) {
      if (step.kind == StepKind::kReturn) break;
      if (step.kind == StepKind::kThrow) throw std::runtime_error("as the program says");
      take(step);
    }
    return std::move(received_);
  }

 private:
  void take(const Step& step) {
    Comm& comm = *comms_[static_cast<std::size_t>(step.group)];
    switch (step.kind) {
      case StepKind::kSend:
        comm.send(Box(step.count, step.doubles, step.value).slice(),
                  index_of(step.group, step.peer));
        break;
      case StepKind::kRecv: {
        Box box(step.count, step.doubles, -1);
        comm.recv(box.slice(), index_of(step.group, step.peer));
        received_.push_back(box.digest());
        break;
      }
      case StepKind::kSendrecv: {
        Box out(step.count, step.doubles, step.value);
        Box in(step.count_in, step.doubles, -1);
        comm.sendrecv(out.slice(), index_of(step.group, step.peer), in.slice(),
                      index_of(step.group, step.src));
        received_.push_back(in.digest());
        break;
      }
      case StepKind::kIsend: {
        Operation& operation = open_[step.request];
        operation.box = Box(step.count, step.doubles, step.value);
        operation.request = comm.isend(operation.box.slice(), index_of(step.group, step.peer));
        break;
      }
      case StepKind::kIrecv: {
        Operation& operation = open_[step.request];
        operation.box = Box(step.count, step.doubles, -1);
        operation.receives = true;
        operation.request = comm.irecv(operation.box.slice(), index_of(step.group, step.peer));
        break;
      }
      case StepKind::kCollective: {
        Operation operation;
        collective(comm, step, operation, /*async=*/false);
        note(operation);
        break;
      }
      case StepKind::kCollectiveAsync:
        collective(comm, step, open_[step.request], /*async=*/true);
        break;
      case StepKind::kWait: {
        Operation& operation = open_.at(step.request);
        comms_[0]->wait(operation.request);
        note(operation);
        open_.erase(step.request);
        break;
      }
      case StepKind::kSplit:
        comms_[static_cast<std::size_t>(step.made_group)] = comm.split(step.color);
        break;
      case StepKind::kCompute:
        comm.compute(1);
        break;
      case StepKind::kThrow:
      case StepKind::kReturn:
        break;
    }
  }

  void collective(Comm& comm, const Step& step, Operation& operation, bool async) {
    operation.box = Box(step.count, false, step.value);
    operation.receives = step.collective != CollectiveKind::kBarrier;
    operation.gathers = step.collective == CollectiveKind::kAllGather;
    if (operation.gathers) operation.gathered = Box(step.count * comm.world_size(), false, -1);
    const Slice slice = operation.box.slice();
    const int root = step.peer < 0 ? -1 : index_of(step.group, step.peer);
    switch (step.collective) {
      case CollectiveKind::kBarrier:
        async ? void(operation.request = comm.barrier_async()) : comm.barrier();
        break;
      case CollectiveKind::kBroadcast:
        async ? void(operation.request = comm.broadcast_async(slice, root))
              : comm.broadcast(slice, root);
        break;
      case CollectiveKind::kReduce:
        async ? void(operation.request = comm.reduce_async(slice, root, step.op))
              : comm.reduce(slice, root, step.op);
        break;
      case CollectiveKind::kAllReduce:
        async ? void(operation.request = comm.all_reduce_async(slice, step.op))
              : comm.all_reduce(slice, step.op);
        break;
      default:
        async ? void(operation.request = comm.all_gather_async(slice, operation.gathered.slice()))
              : comm.all_gather(slice, operation.gathered.slice());
        break;
    }
  }

  void note(const Operation& operation) {
    if (operation.receives)
      received_.push_back((operation.gathers ? operation.gathered : operation.box).digest());
  }

  int index_of(int group, int world_rank) const {
    const std::vector<int>& members = program_.groups[static_cast<std::size_t>(group)];
    return static_cast<int>(std::find(members.begin(), members.end(), world_rank) -
                            members.begin());
  }

  const Program& program_;
  std::vector<std::optional<Comm>> comms_;  // [group]
  std::map<int, Operation> open_;           // by request
  std::vector<std::uint64_t> received_;
};

struct Run {
  Verdict verdict;
  std::string what;
  std::vector<std::vector<std::uint64_t>> received;
  RunReport report;
};

Verdict verdict_of(const std::exception_ptr& thrown) {
  if (thrown == nullptr) return {};
  if (const auto error = error_as<DeadlockError>(thrown)) {
    Verdict verdict{OutcomeKind::kDeadlock, -1, {}};
    for (const Wait& wait : error->waits())
      verdict.blocked.push_back({wait.rank, wait.op, wait.peers});
    return verdict;
  }
  if (const auto error = error_as<MessageMismatch>(thrown))
    return {OutcomeKind::kMessageMismatch, error->rank(), {}};
  if (const auto error = error_as<CollectiveMismatch>(thrown))
    return {OutcomeKind::kCollectiveMismatch, error->rank(), {}};
  if (const auto error = error_as<UnreceivedMessage>(thrown))
    return {OutcomeKind::kUnreceived, error->rank(), {}};
  if (const auto error = error_as<RankFailed>(thrown))
    return {OutcomeKind::kFailed, error->rank(), {}};
  return {OutcomeKind::kFailed, -2, {}};  // which the model never says
}

Run run(const Program& program) {
  Run run;
  run.received.resize(program.ranks.size());
  RunOptions options;
  options.world_size = program.world_size;
  options.buffering = program.buffering;
  options.seed = program.schedule;
  try {
    run_world(
        options,
        [&](Comm& dist) {
          run.received[static_cast<std::size_t>(dist.rank())] = Walker(program, dist).walk();
        },
        &run.report);
  } catch (...) {
    run.verdict = verdict_of(std::current_exception());
    run.what = what_of(std::current_exception());
  }
  return run;
}

// ---- Watching
// -------------------------------------------------------------------------------------------------------

/// Ends the process if one program runs for too long, with its seed.
class Watchdog {
 public:
  Watchdog() : thread_([this](const std::stop_token& stop) { watch(stop); }) {}

  void starts(const Program& program) {
    std::lock_guard guard(lock_);
    program_ = &program;
    deadline_ = std::chrono::steady_clock::now() + kPatience;
  }
  void ends() {
    std::lock_guard guard(lock_);
    program_ = nullptr;
  }

 private:
  void watch(const std::stop_token& stop) {
    std::unique_lock guard(lock_);
    while (!stop.stop_requested()) {
      wake_.wait_for(guard, stop, std::chrono::milliseconds(500), [] { return false; });
      if (program_ == nullptr || std::chrono::steady_clock::now() < deadline_) continue;
      std::fprintf(
          stderr, "\nstress_test: this program hangs; rerun it with RANKBOX_STRESS_SEED=%llu\n%s\n",
          static_cast<unsigned long long>(program_->seed), to_string(*program_).c_str());
      std::abort();
    }
  }

  std::mutex lock_;
  std::condition_variable_any wake_;
  const Program* program_ = nullptr;
  std::chrono::steady_clock::time_point deadline_;
  std::jthread thread_;
};

std::uint64_t environment(const char* name, std::uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

/// Calls body for every seed that is to be run; with one seed given, for that seed many times.
template <class Body>
void for_each_seed(Body body) {
  const std::uint64_t runs = environment("RANKBOX_STRESS_RUNS", kRuns);
  const std::uint64_t seed = environment("RANKBOX_STRESS_SEED", 0);
  for (std::uint64_t i = 1; i <= runs; ++i) body(seed == 0 ? i : seed);
}

/// Checks one program; false if it did not end as predicted.
bool ends_as_predicted(const Program& program, Watchdog& watchdog,
                       std::map<OutcomeKind, int>& seen) {
  const Prediction prediction = predict(program);
  watchdog.starts(program);
  const Run got = run(program);
  watchdog.ends();
  ++seen[got.verdict.kind];

  const auto& possible = prediction.possible;
  bool right = std::find(possible.begin(), possible.end(), got.verdict) != possible.end();
  if (got.verdict.kind == OutcomeKind::kOk) right = right && got.received == prediction.received;
  if (right) return true;

  std::string predicted;
  for (const Verdict& verdict : possible) predicted += "\n  or " + to_string(verdict);
  FAIL_CHECK("rerun with RANKBOX_STRESS_SEED=" << program.seed << "\n"
                                               << to_string(program) << "\npredicted:" << predicted
                                               << "\ngot: " << to_string(got.verdict) << "\n"
                                               << got.what);
  return false;
}

TEST_CASE("matched programs end well, with the right values, whatever the dial and the schedule") {
  Watchdog watchdog;
  std::map<OutcomeKind, int> seen;
  int wrong = 0;
  for_each_seed([&](std::uint64_t seed) {
    if (wrong >= 3) return;  // enough to read
    const Program program = matched_program(seed);
    REQUIRE(predict(program).possible == std::vector<Verdict>{Verdict{}});
    wrong += !ends_as_predicted(program, watchdog, seen);
  });
  CHECK(seen.size() == 1);
  CHECK(wrong == 0);
}

TEST_CASE("broken programs end as the reference model says") {
  Watchdog watchdog;
  std::map<OutcomeKind, int> seen;
  int wrong = 0;
  for_each_seed([&](std::uint64_t seed) {
    if (wrong >= 3) return;
    wrong += !ends_as_predicted(broken_program(seed), watchdog, seen);
  });
  CHECK(wrong == 0);
  // The mix is worth the time: every kind of ending occurs.
  if (environment("RANKBOX_STRESS_RUNS", kRuns) >= 1000 &&
      environment("RANKBOX_STRESS_SEED", 0) == 0) {
    CHECK(seen.size() == 6);
  }
}

TEST_CASE("virtual time does not depend on the schedule") {
  Watchdog watchdog;
  for (std::uint64_t seed = 1; seed <= kRuns / 20; ++seed) {
    Program program = matched_program(seed);
    CAPTURE(seed);
    std::optional<RunReport> first;
    for (std::uint64_t schedule : {std::uint64_t{0}, seed, seed + 1}) {
      program.schedule = schedule;
      watchdog.starts(program);
      const Run got = run(program);
      watchdog.ends();
      if (!first) first = got.report;
      CHECK(got.report.virtual_seconds == first->virtual_seconds);
      CHECK(got.report.cost == first->cost);
      CHECK(got.report.messages == first->messages);
      CHECK(got.report.trace.groups == first->trace.groups);
    }
  }
}

}  // namespace
}  // namespace rankbox::testing
