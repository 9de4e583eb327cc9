// Mistakes in calls on NCCL: refused at once, or found by comparing the ranks' calls.
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include "tests/gpu/nccl_test_failures.h"

namespace rankbox::gpu {
namespace {

// ---- Arguments -------------------------------------------------------------------------------

TEST_CASE(
    "what no call can accept is refused before anything is done, and only stops its rank's run") {
  struct Row {
    const char* says;
    std::function<void(NcclCommunicator&)> call;
  };
  const Row rows[] = {
      {"destination 2 does not exist: ranks are 0 to 1",
       [](NcclCommunicator& dist) { dist.send(Floats(some(1)), 2); }},
      {"source -1 does not exist", [](NcclCommunicator& dist) { dist.recv(Floats(some(1)), -1); }},
      {"the slice is null", [](NcclCommunicator& dist) { dist.all_reduce(Slice()); }},
      {"const tensor",
       [](NcclCommunicator& dist) {
         const Floats data(some(2));
         const Slice slice = data;
         dist.recv({slice.data(), 2, DType::kFloat32, /*read_only=*/true, 0}, 1);
       }},
      {"overlap",
       [](NcclCommunicator& dist) {
         const Floats data(some(2));
         dist.sendrecv(data, 1, data, 1);
       }},
      {"gathered has 3 elements",
       [](NcclCommunicator& dist) { dist.all_gather(Floats(some(2)), Floats(some(3))); }},
      {"the slice belongs to a tensor of rank 1",
       [](NcclCommunicator& dist) {
         const Floats data(some(2));
         const Slice slice = data;
         dist.broadcast({slice.data(), 2, DType::kFloat32, false, /*owner=*/2}, 0);
       }},
      {"-1 seconds cannot be spent", [](NcclCommunicator& dist) { dist.compute(-1); }},
      {"the request is empty", [](NcclCommunicator& dist) { dist.wait(NcclRequest()); }},
  };
  for (const Row& row : rows) {
    CAPTURE(row.says);
    const NcclRun result = run(ranks(2), [&](NcclCommunicator& dist) {
      if (dist.rank() == 0) row.call(dist);
    });
    CHECK(result.is_cause<InvalidArgument>());
    CHECK(contains(result.what(), "rank 0, "));
    CHECK(contains(result.what(), row.says));
    CHECK(contains(result.what(), "nccl_mismatch_test.cc:"));
  }
}

TEST_CASE("a world that cannot be is refused") {
  CHECK_THROWS_AS(NcclWorld({.world_size = 0}), InvalidArgument);
  CHECK_THROWS_AS(NcclWorld({.world_size = 2, .local_ranks = {2}}), InvalidArgument);
  CHECK_THROWS_AS(NcclWorld({.world_size = 2, .local_ranks = {0}}), InvalidArgument);  // no id
  CHECK_THROWS_AS(NcclWorld({.world_size = 2, .nodes = {0}}), InvalidArgument);
  CHECK_THROWS_AS(NcclWorld({.world_size = 2, .deadline_seconds = 0}), InvalidArgument);
}

TEST_CASE("another rank's request cannot be waited for") {
  std::shared_ptr<NcclRequest> request;
  std::atomic<bool> there{false};
  const NcclRun result = run(ranks(2), [&](NcclCommunicator& dist) {
    const Floats data(some(1));
    if (dist.rank() == 0) {
      request = std::make_shared<NcclRequest>(dist.isend(data, 1));
      there = true;
      dist.barrier();
    } else {
      while (!there) std::this_thread::yield();
      dist.wait(*request);
    }
  });
  CHECK(result.is_cause<InvalidArgument>());
  CHECK(contains(result.what(), "the request belongs to rank 0"));
}

// ---- Calls that do not go together ---------------------------------------------------------------

TEST_CASE("a message of another size: MessageMismatch on both, naming both call sites") {
  for (const bool async : {false, true}) {
    for (const int first : {0, 1}) {
      CAPTURE(async);
      CAPTURE(first);
      int sent_at = 0, received_at = 0;
      std::atomic<bool> came{false};
      const NcclRun result = run(ranks(3), [&](NcclCommunicator& dist) {
        const Floats data(some(4 + dist.rank()));
        if (dist.rank() == 2) return dist.barrier();
        while (dist.rank() != first && !came) std::this_thread::yield();
        if (dist.rank() == 0) {
          sent_at = line();
          const auto start = [&] { return dist.isend(data, 1); };
          NcclRequest request;
          async ? void(request = start()) : dist.send(data, 1);
          came = true;
          if (async) dist.wait(request);
        } else {
          received_at = line() + 1;
          dist.recv(data, 0);
          came = true;
        }
        dist.barrier();
      });
      for (const int rank : {0, 1}) {
        CHECK(result.is<MessageMismatch>(rank));
        const std::string what = result.what(rank);
        CHECK(contains(what, "rank 0 sends 4 float32 (16 bytes) to rank 1 at "));
        CHECK(contains(what, "rank 1 receives 5 float32 (20 bytes) from rank 0 at "));
        CHECK(contains(what, in_this_file(sent_at + (async ? 1 : 3))));
        CHECK(contains(what, in_this_file(received_at)));
      }
      CHECK(result.is_cause<MessageMismatch>());
      CHECK(result.is<Aborted>(2));
      CHECK(contains(result.what(2), "message mismatch"));
      CHECK(result.seconds < kSoon);
    }
  }
}

TEST_CASE("a message of another type, and one to oneself of another size") {
  NcclRun result = run(ranks(2), [](NcclCommunicator& dist) {
    if (dist.rank() == 0) dist.send(Floats(some(4)), 1);
    if (dist.rank() == 1) dist.recv(DeviceArray<std::int32_t>({1, 2, 3, 4}), 0);
    dist.barrier();
  });
  CHECK(result.is<MessageMismatch>(0));
  CHECK(contains(result.what(1), "sends 4 float32"));
  CHECK(contains(result.what(1), "receives 4 int32"));
  result = run(ranks(1), [](NcclCommunicator& dist) {
    const Floats out(some(2)), in(some(3));
    dist.sendrecv(out, 0, in, 0);
  });
  CHECK(result.is_cause<MessageMismatch>());
}

TEST_CASE("different collectives: CollectiveMismatch on all ranks, naming what differs") {
  struct Row {
    const char* field;
    std::function<void(NcclCommunicator&, bool odd)> call;
  };
  const Row rows[] = {
      {"collective",
       [](NcclCommunicator& dist, bool odd) {
         const Floats data(some(4));
         odd ? dist.all_reduce(data) : dist.broadcast(data, 0);
       }},
      {"root",
       [](NcclCommunicator& dist, bool odd) { dist.broadcast(Floats(some(4)), odd ? 1 : 0); }},
      {"op",
       [](NcclCommunicator& dist, bool odd) {
         dist.all_reduce(Floats(some(4)), odd ? ReduceOp::MAX : ReduceOp::SUM);
       }},
      {"size",
       [](NcclCommunicator& dist, bool odd) { dist.all_reduce(Floats(some(odd ? 4 : 0))); }},
      {"dtype",
       [](NcclCommunicator& dist, bool odd) {
         odd ? dist.all_reduce(DeviceArray<std::int32_t>({1})) : dist.all_reduce(Floats(some(1)));
       }},
      {"root, op, size",
       [](NcclCommunicator& dist, bool odd) {
         const Floats data(some(odd ? 4 : 5));
         const auto request =
             dist.reduce_async(data, odd ? 1 : 0, odd ? ReduceOp::MAX : ReduceOp::SUM);
         dist.wait(request);
       }},
  };
  for (const Row& row : rows) {
    CAPTURE(row.field);
    const NcclRun result = run(ranks(3), [&](NcclCommunicator& dist) {
      row.call(dist, dist.rank() == 1);
      dist.barrier();
    });
    for (const int rank : {0, 1, 2}) CHECK(result.is<CollectiveMismatch>(rank));
    CHECK(contains(result.what(), std::string("collective mismatch in ") + row.field + ": rank "));
    CHECK(contains(result.what(), "but rank "));
    CHECK(contains(result.what(), "nccl_mismatch_test.cc:"));
    CHECK(result.seconds < kSoon);
  }
}

TEST_CASE("collectives that are not compared: the deadline ends them") {
  NcclSettings settings = ranks(2);
  settings.check_collectives = false;
  const NcclRun result = run(settings, [](NcclCommunicator& dist) {
    dist.all_reduce(Floats(some(4 + dist.rank())));
    dist.synchronize();
  });
  CHECK(result.is_cause<TimedOut>());
}

TEST_CASE("a mismatch stops the world even if a rank catches it") {
  const NcclRun result = run(ranks(2), [](NcclCommunicator& dist) {
    try {
      if (dist.rank() == 0) dist.send(Floats(some(4)), 1);
      if (dist.rank() == 1) dist.recv(Floats(some(5)), 0);
      dist.barrier();
    } catch (const MessageMismatch&) {
    }
    dist.barrier();
  });
  CHECK(result.is<MessageMismatch>(0));
  CHECK(result.is<MessageMismatch>(1));
}

}  // namespace
}  // namespace rankbox::gpu
