// With a data plane the sandbox touches no data.
//
// The plane copies all data, and gets back each copy of a buffered send once, however a run ends.
// gpu/ has the tests of real planes.
#include "sim/data_plane.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "comm/tensor.h"
#include "sim/run_world.h"
#include "tests/sim/observe.h"

namespace rankbox {

struct sim::DataPlane::Transit {
  std::vector<char> copied;
};

namespace testing {
namespace {

/// Copies at once, and counts the calls. The function of `failing_call` throws on its first call
/// after `skip` others.
class CountingPlane final : public sim::DataPlane {
 public:
  std::string failing_call;
  int skip = 0;

  std::atomic<int> copies{0};
  std::atomic<int> collectives{0};
  std::atomic<int> inside{0};  // ranks between enter and leave
  std::vector<std::string> mistakes;

  void enter(int /*rank*/) override {
    ++inside;
    may_fail("enter");
  }
  void leave(int /*rank*/) noexcept override { --inside; }
  ~CountingPlane() override {
    for (const Transit* transit : copied_) delete transit;
  }

  Transit* prepare(int rank) override {
    may_fail("prepare");
    std::lock_guard guard(lock_);
    return &ranks_[rank];
  }
  Transit* prepare_copy(int /*rank*/, Slice slice, void** data) override {
    may_fail("prepare_copy");
    const auto* const begin = static_cast<const char*>(slice.data());
    auto* const transit = new Transit{{begin, begin + slice.bytes()}};
    *data = transit->copied.data();
    std::lock_guard guard(lock_);
    copied_.insert(transit);
    return transit;
  }
  void copy(Side to, Side from, std::int64_t bytes, const Transit* mine) override {
    may_fail("copy");
    check_is_live(to.transit);
    check_is_live(from.transit);
    if (mine != to.transit && mine != from.transit) note("copied by a stranger");
    if (bytes > 0) std::memcpy(to.data, from.data, static_cast<std::size_t>(bytes));
    ++copies;
  }
  void run(std::span<const Part> parts, const Transit* mine) override {
    may_fail("run");
    bool is_mine = false;
    for (const Part& part : parts) {
      check_is_live(part.transit);
      is_mine = is_mine || part.transit == mine;
    }
    if (!is_mine) note("run by a stranger");
    if (parts[0].call->kind != CollectiveKind::kBroadcast) note("another collective");
    const Slice from = parts[static_cast<std::size_t>(parts[0].call->root)].call->in;
    for (const Part& part : parts) {
      if (from.bytes() == 0) break;
      std::memmove(part.call->out.data(), from.data(), static_cast<std::size_t>(from.bytes()));
    }
    ++collectives;
  }
  void discard(Transit* transit) noexcept override {
    check_is_live(transit);
    std::lock_guard guard(lock_);
    copied_.erase(transit);
    delete transit;
  }

  /// Call after the run.
  void check_no_mistakes() {
    for (const std::string& mistake : mistakes) {
      CAPTURE(mistake);
      CHECK(mistake.empty());
    }
  }
  void check_all_is_over() {
    CHECK(inside == 0);
    CHECK(copied_.empty());
    check_no_mistakes();
  }

 private:
  void may_fail(const std::string& call) {
    if (call == failing_call && calls_++ == skip) throw std::runtime_error(call + " fails");
  }
  void check_is_live(Transit* transit) {
    std::lock_guard guard(lock_);
    const bool is_live = copied_.contains(transit) || std::ranges::any_of(ranks_, [&](auto& each) {
                           return &each.second == transit;
                         });
    if (!is_live) mistakes.push_back("not live");
  }
  void note(const std::string& mistake) {
    std::lock_guard guard(lock_);
    mistakes.push_back(mistake);
  }

  std::atomic<int> calls_{0};     // of the function that fails
  std::mutex lock_;               // guards what follows, and mistakes
  std::map<int, Transit> ranks_;  // those that have prepared an operation
  std::set<Transit*> copied_;
};

struct Run {
  std::exception_ptr thrown;
  RunReport report;
};

Run run_on(CountingPlane& plane, const RunOptions& options,
           const std::function<void(Comm&)>& body) {
  Run run;
  try {
    sim::run_world(options, body, &run.report, &plane);
  } catch (...) {
    run.thrown = std::current_exception();
  }
  return run;
}

/// Runs all calls that move data, with short and long messages; `seen` ends up right on every rank.
void use_everything(Comm& dist, std::vector<std::vector<float>>& seen) {
  const int next = next_of(dist);
  const int prev = prev_of(dist);
  for (std::int64_t count : {0, 1, 1000}) {
    const Tensor mine = full(count, static_cast<float>(dist.rank()));
    Tensor theirs = zeros(count);
    if (dist.rank() == 0) {
      dist.send(mine, next);
      dist.recv(theirs, prev);
    } else {
      dist.recv(theirs, prev);
      dist.send(mine, next);
    }
    dist.sendrecv(mine, next, theirs, prev);
    dist.barrier();
    const std::vector<Request> both = {dist.irecv(theirs, prev), dist.isend(mine, next)};
    dist.wait_all(both);
    seen[static_cast<std::size_t>(dist.rank())] = to_host(theirs);
    if (!theirs.empty() && to_host(theirs).back() != static_cast<float>(prev)) {
      throw std::logic_error("wrong values");
    }
    dist.broadcast(theirs, 0);
    dist.wait(dist.broadcast_async(theirs, 1));
    Comm half = dist.split(dist.rank() % 2);
    half.broadcast(theirs, 0);
    half.barrier();
  }
}

TEST_CASE("whatever moves data does it through the plane, and the sandbox knows all it knew") {
  for (Buffering buffering : {Buffering::rendezvous(), Buffering::unbounded()}) {
    for (int world_size : {2, 3, 8}) {
      CountingPlane plane;
      std::vector<std::vector<float>> seen(static_cast<std::size_t>(world_size));
      const RunOptions options = {.world_size = world_size, .buffering = buffering};
      const Run run = run_on(plane, options, [&](Comm& dist) { use_everything(dist, seen); });
      CAPTURE(world_size);
      INFO(what_of(run.thrown));
      CHECK(run.thrown == nullptr);
      CHECK(plane.copies == 3 * 3 * world_size);
      CHECK(plane.collectives == 3 * 4);
      plane.check_all_is_over();

      RunReport on_host;
      sim::run_world(
          options, [&](Comm& dist) { use_everything(dist, seen); }, &on_host);
      CHECK(run.report.messages == on_host.messages);
      CHECK(run.report.bytes == on_host.bytes);
      CHECK(run.report.cost == on_host.cost);
      CHECK(run.report.virtual_seconds == on_host.virtual_seconds);
    }
  }
}

TEST_CASE("what looks at data is left out: watched buffers, snapshots, fibers") {
  CountingPlane plane;
  RunOptions options = {.world_size = 2, .executor = ExecutorKind::kFibers};
  options.watch_buffers = true;
  options.snapshot_elements = 4;
  std::vector<std::vector<float>> seen(2);
  std::set<std::thread::id> threads;
  std::mutex lock;
  const Run run = run_on(plane, options, [&](Comm& dist) {
    {
      std::lock_guard guard(lock);
      threads.insert(std::this_thread::get_id());
    }
    use_everything(dist, seen);
  });
  INFO(what_of(run.thrown));
  CHECK(run.thrown == nullptr);
  CHECK(threads.size() == 2);
  for (const std::vector<Snapshot>& snapshots : run.report.trace.snapshots)
    CHECK(snapshots.empty());
  plane.check_all_is_over();
}

TEST_CASE("each copy of a buffered send is given back, however a run ends") {
  const std::vector<std::function<void(Comm&)>> programs = {
      [](Comm& dist) {  // a deadlock
        Tensor tensor = zeros(3);
        dist.send(tensor, next_of(dist));
      },
      [](Comm& dist) {  // one in the middle of a sendrecv
        Tensor tensor = zeros(3);
        Tensor other = zeros(3);
        if (dist.rank() > 0) dist.sendrecv(tensor, next_of(dist), other, prev_of(dist));
      },
      [](Comm& dist) {  // a rank that throws
        Tensor tensor = zeros(3);
        if (dist.rank() == 1) throw std::runtime_error("the cause");
        dist.recv(tensor, 1);
      },
      [](Comm& dist) {  // sizes that differ
        Tensor tensor = zeros(3 + dist.rank());
        Tensor other = zeros(3);
        dist.sendrecv(tensor, next_of(dist), other, prev_of(dist));
      },
      [](Comm& dist) {  // and those of a collective
        Tensor tensor = zeros(3 + dist.rank());
        dist.broadcast(tensor, 0);
      },
      [](Comm& dist) {  // requests that no rank waits for
        Tensor tensor = zeros(3);
        Tensor other = zeros(3);
        const Request sent = dist.isend(tensor, next_of(dist));
        const Request received = dist.irecv(other, prev_of(dist));
        const Request broadcast = dist.broadcast_async(other, 0);
      },
      [](Comm& dist) {  // a message that no rank receives
        Tensor tensor = zeros(3);
        if (dist.rank() == 0) dist.wait(dist.isend(tensor, 1));
      },
  };
  for (std::size_t i = 0; i < programs.size(); ++i) {
    for (Buffering buffering : {Buffering::rendezvous(), Buffering::unbounded()}) {
      for_each_schedule(5, [&](std::uint64_t seed) {
        CAPTURE(i);
        CountingPlane plane;
        run_on(plane, {.world_size = 3, .buffering = buffering, .seed = seed}, programs[i]);
        plane.check_all_is_over();
      });
    }
  }
}

TEST_CASE("a data plane that fails stops the world, with its failure and without a hang") {
  for (const std::string call : {"enter", "prepare", "prepare_copy", "copy", "run"}) {
    for (int skip : {0, 1, 2, 3, 5, 8, 11}) {
      CAPTURE(call);
      CAPTURE(skip);
      const bool is_buffered = call == "prepare_copy";
      CountingPlane plane;
      plane.failing_call = call;
      plane.skip = skip;
      std::vector<std::vector<float>> seen(3);
      const Run run =
          run_on(plane,
                 {.world_size = 3,
                  .buffering = is_buffered ? Buffering::unbounded() : Buffering::rendezvous()},
                 [&](Comm& dist) { use_everything(dist, seen); });
      const bool must_fail = call != "enter" || skip < 3;
      CHECK((run.thrown != nullptr) == must_fail);
      if (must_fail) CHECK(contains(what_of(run.thrown), call + " fails"));
      CHECK(plane.inside == 0);
      plane.check_no_mistakes();
    }
  }
}

}  // namespace
}  // namespace testing
}  // namespace rankbox
