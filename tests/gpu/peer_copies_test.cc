// Messages that their receiver reads in its next call.
#include "gpu/shared/peer_copies.h"

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "collectives/allreduce_ring.h"
#include "collectives/allreduce_ring_segmented.h"
#include "comm/errors.h"
#include "gpu/device_here.h"
#include "tests/gpu/gpu_test_worlds.h"

namespace rankbox::gpu {
namespace {

constexpr std::int64_t kCount = 1000;

void wait_for(const std::atomic<bool>& flag) {
  while (!flag) std::this_thread::yield();
}

std::int64_t copies_so_far() { return emulation::calls_of("cudaMemcpyAsync"); }

/// Returns values that no operation below leaves as they are.
Tensor values_of(int rank) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < kCount; ++i)
    values.push_back(2.0f + static_cast<float>(i % 7) + 10.0f * static_cast<float>(rank));
  return from_host(values);
}

std::vector<float> both_to_host(const Tensor& x, const Tensor& buffer) {
  std::vector<float> both = to_host(x);
  const std::vector<float> more = to_host(buffer);
  both.insert(both.end(), more.begin(), more.end());
  return both;
}

// ---- The next call ------------------------------------------------------------------------------

/// What a receiver calls next, and the copies that the two then take.
struct Next {
  const char* name;
  std::function<void(Comm&, Tensor& x, Tensor& buffer)> call;
  std::int64_t copies;
};

const std::vector<Next>& next_calls() {
  static const std::vector<Next> all = {
      {"adds", [](Comm&, Tensor& x, Tensor& b) { x += b; }, 0},
      {"takes the maximum", [](Comm&, Tensor& x, Tensor& b) { accumulate(x, b, ReduceOp::MAX); },
       0},
      {"adds, and uses what it received",
       [](Comm&, Tensor& x, Tensor& b) { (x += b) *= 2, b *= 3; }, 0},
      {"adds twice", [](Comm&, Tensor& x, Tensor& b) { (x += b) += b; }, 0},
      {"adds a part",
       [](Comm&, Tensor& x, Tensor& b) { Slice(x).sub(0, 999) += Slice(b).sub(0, 999); }, 1},
      {"adds the other way around", [](Comm&, Tensor& x, Tensor& b) { b += x; }, 1},
      {"adds it to itself", [](Comm&, Tensor&, Tensor& b) { b += b; }, 1},
      {"changes it", [](Comm&, Tensor&, Tensor& b) { b *= 2; }, 1},
      {"changes the other tensor", [](Comm&, Tensor& x, Tensor&) { x *= 2; }, 1},
      {"copies it", [](Comm&, Tensor& x, Tensor& b) { copy(x, b); }, 2},
      {"reads it", [](Comm&, Tensor&, Tensor& b) { to_host(b); }, 2},
      {"allocates", [](Comm&, Tensor&, Tensor&) { const Tensor more(10); }, 1},
      {"synchronizes", [](Comm& d, Tensor&, Tensor&) { d.synchronize(); }, 1},
  };
  return all;
}

/// Runs a message and the receiver's next call. Returns rank 1's tensors and the copies between.
std::pair<std::vector<float>, std::int64_t> run_next(const Next& next, bool starts) {
  std::atomic<bool> called{false};
  std::int64_t copies = 0;
  const auto run = run_ranks({.world_size = 2}, [&](Comm& dist) {
    Tensor x = values_of(dist.rank());
    Tensor buffer = zeros(kCount);
    dist.barrier();  // no copies but those counted
    if (dist.rank() == 0) {
      if (starts) {
        dist.wait(dist.isend(x, 1));
      } else {
        dist.send(x, 1);
      }
      wait_for(called);
      x *= 100.0f;
      return std::vector<float>();
    }
    copies = -copies_so_far();
    dist.recv(buffer, 0);
    next.call(dist, x, buffer);
    copies += copies_so_far();
    called = true;
    return both_to_host(x, buffer);
  });
  return {run.results[1], copies};
}

TEST_CASE(
    "accumulate after a receive reads the sender's memory itself; other calls copy it first") {
  for (const Next& next : next_calls()) {
    for (bool starts : {false, true}) {
      const std::string name = next.name;
      CAPTURE(name);
      CAPTURE(starts);
      std::vector<float> expected;
      {
        const Setting setting(2, "shared");
        expected = run_next(next, starts).first;
      }
      const Setting setting(2, "peer");
      const auto [values, copies] = run_next(next, starts);
      CHECK(values == expected);
      CHECK(copies == next.copies);
    }
  }
}

TEST_CASE("irecv copies at once, and so do short messages") {
  for (bool is_short : {false, true}) {
    CAPTURE(is_short);
    const Setting setting(2, "peer");
    if (is_short) setenv("RANKBOX_GPU_PEER_BYTES", "4001", 1);
    const std::int64_t before = copies_so_far();
    std::atomic<int> moved{0};
    std::atomic<std::int64_t> copies{0};
    run_ranks({.world_size = 2}, [&](Comm& dist) {
      Tensor x = full(kCount, 1.0f);
      Tensor buffer = full(kCount, 2.0f);
      if (dist.rank() == 0) {
        dist.send(x, 1);
      } else if (is_short) {
        dist.recv(buffer, 0);
      } else {
        dist.wait(dist.irecv(buffer, 0));
      }
      ++moved;
      while (moved < 2) std::this_thread::yield();
      copies = copies_so_far() - before;
      ++moved;
      while (moved < 4) std::this_thread::yield();
      x += buffer;
    });
    CHECK(copies == 1);
  }
}

TEST_CASE("both ranks of an exchange add what they receive, unless they overwrite what they sent") {
  for (bool whole : {false, true}) {
    CAPTURE(whole);
    const Setting setting(2, "peer");
    std::atomic<int> reached{0};
    const auto meet = [&](int count) {
      ++reached;
      while (reached < count) std::this_thread::yield();
    };
    std::atomic<std::int64_t> before{0};
    std::atomic<std::int64_t> after{0};
    const auto run = run_ranks({.world_size = 2}, [&](Comm& dist) {
      Tensor x = values_of(dist.rank());
      Tensor buffer = zeros(kCount);
      const Slice mine = whole ? Slice(x) : chunk(x, dist.rank(), 2);
      const Slice theirs = whole ? Slice(x) : chunk(x, 1 - dist.rank(), 2);
      const Slice received = Slice(buffer).sub(0, theirs.size());
      dist.barrier();
      before = copies_so_far();
      meet(2);
      dist.sendrecv(mine, 1 - dist.rank(), received, 1 - dist.rank());
      accumulate(theirs, received, ReduceOp::SUM);
      meet(4);
      after = copies_so_far();
      meet(6);
      return to_host(x);
    });
    CHECK(after - before == (whole ? 2 : 0));
    for (int rank : {0, 1}) {
      std::vector<float> expected;
      for (std::int64_t i = 0; i < kCount; ++i) {
        const auto own = static_cast<float>(2 + i % 7 + 10 * rank);
        const auto other = static_cast<float>(2 + i % 7 + 10 * (1 - rank));
        const bool adds = whole || (i < kCount / 2) == (rank == 1);
        expected.push_back(adds ? own + other : own);
      }
      CHECK(run.results[static_cast<std::size_t>(rank)] == expected);
    }
  }
}

// ---- Order --------------------------------------------------------------------------------------

TEST_CASE("the sender's stream does not overwrite what the receiver has yet to read") {
  const Setting setting(2, "peer");
  const auto go_on = std::make_shared<std::atomic<bool>>(false);
  std::atomic<bool> added{false};
  bool waited = true;
  const auto run = run_ranks({.world_size = 2}, [&](Comm& dist) {
    Tensor x = full(kCount, 3.0f);
    Tensor buffer = zeros(kCount);
    dist.barrier();
    if (dist.rank() == 0) {
      dist.send(x, 1);
      wait_for(added);
      x *= 100.0f;
      for (int look = 0; look < 1000; ++look) {
        waited = waited && cudaStreamQuery(device_here().stream()) == cudaErrorNotReady;
        std::this_thread::yield();
      }
      *go_on = true;
    } else {
      hold(device_here().stream(), go_on);
      dist.recv(buffer, 0);
      x += buffer;
      added = true;
    }
    return to_host(x)[0];
  });
  CHECK(waited);
  CHECK(run.results == std::vector<float>{300.0f, 6.0f});
}

TEST_CASE("the receiver reads what the sender's stream has yet to write") {
  const Setting setting(2, "peer");
  const auto go_on = std::make_shared<std::atomic<bool>>(false);
  std::atomic<bool> added{false};
  const auto run = run_ranks({.world_size = 2}, [&](Comm& dist) {
    Tensor x = full(kCount, 3.0f);
    Tensor buffer = zeros(kCount);
    dist.barrier();
    if (dist.rank() == 0) {
      hold(device_here().stream(), go_on);
      x *= 5.0f;
      dist.send(x, 1);
      wait_for(added);
      *go_on = true;
    } else {
      dist.recv(buffer, 0);
      x += buffer;
      added = true;
    }
    return to_host(x)[0];
  });
  CHECK(run.results == std::vector<float>{15.0f, 18.0f});
}

TEST_CASE("a sender does not wait for its receiver's next call") {
  const Setting setting(2, "peer");
  std::atomic<bool> overwritten{false};
  const auto run = run_ranks({.world_size = 2}, [&](Comm& dist) {
    Tensor x = full(kCount, 3.0f);
    Tensor buffer = zeros(kCount);
    if (dist.rank() == 0) {
      dist.send(x, 1);
      x *= 100.0f;
      to_host(x);
      overwritten = true;
    } else {
      dist.recv(buffer, 0);
      wait_for(overwritten);
      x += buffer;
    }
    return to_host(x)[0];
  });
  CHECK(run.results == std::vector<float>{300.0f, 6.0f});
}

TEST_CASE("a receive without a next call arrives, and a tensor may end before it does") {
  const Setting setting(2, "peer");
  std::vector<Tensor> kept(2);
  for (int round = 0; round < 20; ++round) {
    run_ranks({.world_size = 2}, [&](Comm& dist) {
      Tensor received = zeros(kCount);
      {
        const Tensor sent = full(kCount, static_cast<float>(round + dist.rank()));
        Tensor dropped = zeros(kCount);
        dist.sendrecv(sent, 1 - dist.rank(), dropped, 1 - dist.rank());
        dist.sendrecv(sent, 1 - dist.rank(), received, 1 - dist.rank());
      }
      kept[static_cast<std::size_t>(dist.rank())] = std::move(received);
    });
    CHECK(to_host(kept[0]) == std::vector<float>(kCount, static_cast<float>(round + 1)));
    CHECK(to_host(kept[1]) == std::vector<float>(kCount, static_cast<float>(round)));
  }
}

TEST_CASE("rings under random delays of the streams") {
  for (int gpus : {2, 4}) {
    for (int ranks : {2, 3, 4, 5}) {
      for (std::uint64_t seed : {1, 2, 3, 4, 5}) {
        CAPTURE(gpus);
        CAPTURE(ranks);
        CAPTURE(seed);
        const Setting setting(gpus, "peer");
        emulation::delay_streams(seed);
        const auto run = run_ranks({.world_size = ranks}, [&](Comm& dist) {
          Tensor x = full(kCount, static_cast<float>(dist.rank() + 1));
          allreduce_ring(dist, x, ReduceOp::SUM);
          x /= static_cast<float>(ranks);
          allreduce_ring_segmented(dist, x, ReduceOp::SUM, 1);
          allreduce_ring_segmented(dist, x, ReduceOp::SUM, 3);
          return to_host(x);
        });
        emulation::delay_streams(0);
        const float sum = static_cast<float>(ranks * (ranks + 1)) / 2;
        const std::vector<float> expected(kCount, sum * static_cast<float>(ranks));
        for (const auto& result : run.results) CHECK(result == expected);
      }
    }
  }
}

// ---- Failures -----------------------------------------------------------------------------------

TEST_CASE("a rank that fails beside a message ends the run with its error, and leaves no memory") {
  using Program = std::function<void(Comm&, Tensor & x, Tensor & buffer)>;
  const auto fail = [] { throw std::runtime_error("the cause"); };
  const std::vector<Program> programs = {
      [&](Comm& d, Tensor& x, Tensor& b) {  // the sender, before its next call
        if (d.rank() == 0) d.send(x, 1), fail();
        if (d.rank() == 1) d.recv(b, 0), x += b;
      },
      [&](Comm& d, Tensor& x, Tensor& b) {  // the receiver
        if (d.rank() == 0) d.send(x, 1), x *= 2.0f;
        if (d.rank() == 1) d.recv(b, 0), fail();
      },
      [&](Comm& d, Tensor& x, Tensor& b) {  // after it has added
        if (d.rank() == 0) d.send(x, 1), x *= 2.0f, d.recv(b, 1);
        if (d.rank() == 1) d.recv(b, 0), x += b, fail();
      },
      [&](Comm& d, Tensor& x, Tensor&) {  // in a ring
        allreduce_ring(d, x, ReduceOp::SUM);
        if (d.rank() == 1) fail();
        allreduce_ring(d, x, ReduceOp::SUM);
      },
  };
  emulation::set_device_count(4);
  to_host(zeros(1));  // from here on the main thread's own device exists
  for (const Program& program : programs) {
    for (int ranks : {2, 4}) {
      const std::int64_t before = emulation::memory_in_use().allocations;
      {
        const Setting setting(4, "peer");
        const std::exception_ptr error = thrown_by({.world_size = ranks}, [&](Comm& dist) {
          Tensor x = full(kCount, 3.0f);
          Tensor buffer = zeros(kCount);
          program(dist, x, buffer);
        });
        INFO(words_of(error));
        CHECK(says(error, "the cause"));
      }
      CHECK(emulation::memory_in_use().allocations == before);
    }
  }
}

TEST_CASE("a CUDA call that fails ends the run with its error, wherever it was") {
  for (const char* call :
       {"cudaMemcpyAsync", "cudaEventRecord", "cudaStreamWaitEvent", "cudaLaunchKernelEx"}) {
    for (int skip : {0, 1, 2, 3, 5, 7, 9}) {
      const Setting setting(3, "peer");
      emulation::fail_next(call, cudaErrorUnknown, skip);
      const std::exception_ptr error = thrown_by({.world_size = 3}, [&](Comm& dist) {
        Tensor x = full(kCount, 3.0f);
        allreduce_ring(dist, x, ReduceOp::SUM);
        to_host(x);
        dist.all_reduce(x);
        to_host(x);
      });
      emulation::fail_next(call, cudaSuccess);
      const std::string name = call;
      CAPTURE(name);
      CAPTURE(skip);
      INFO(words_of(error));
      CHECK(is_a<CudaError>(error));
      CHECK(says(error, name + " failed: cudaErrorUnknown"));
    }
  }
}

TEST_CASE("deadlocks are proved") {
  const Setting setting(2, "peer");
  const std::exception_ptr error = thrown_by({.world_size = 2}, [](Comm& dist) {
    Tensor x = zeros(kCount);
    Tensor buffer = zeros(kCount);
    dist.sendrecv(x, 1 - dist.rank(), buffer, 1 - dist.rank());
    x += buffer;
    dist.send(x, 1 - dist.rank());
  });
  CHECK(is_a<DeadlockError>(error));
}

}  // namespace
}  // namespace rankbox::gpu
