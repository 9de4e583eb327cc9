// Splits on NCCL: which communicators they make, and which they use again.
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "collectives/node_grid.h"
#include "tests/gpu/gpu_test_worlds.h"
#include "tests/gpu/nccl_test_failures.h"

namespace rankbox::gpu {
namespace {

/// Returns the communicators of all ranks. All ranks call it.
std::int64_t communicators(Comm& dist) {
  dist.barrier();
  const std::int64_t live = emulation::live_nccl_communicators();
  dist.barrier();
  return live;
}

TEST_CASE("a split makes communicators unless it repeats one that no rank uses any more") {
  struct Row {
    const char* name;
    std::function<void(Comm&)> program;
    int worlds;  // as many communicators as this many worlds, made by splits
  };
  const Row rows[] = {
      {"grids of nodes, in a loop: of the node, of the nodes alike, of the counterparts",
       [](Comm& dist) {
         for (int i = 0; i < 1000; ++i) split_by_node(dist).counterparts.barrier();
       },
       3},
      {"equal, in a loop",
       [](Comm& dist) {
         for (int i = 0; i < 5; ++i) dist.split(dist.rank() % 2).barrier();
       },
       1},
      {"equal, the last one being replaced",
       [](Comm& dist) {
         Comm half = dist.split(dist.rank() % 2);
         for (int i = 0; i < 5; ++i) half = dist.split(dist.rank() % 2);
       },
       2},
      {"equal, all alive",
       [](Comm& dist) {
         std::vector<Comm> all;
         for (int i = 0; i < 5; ++i) all.push_back(dist.split(0));
       },
       5},
      {"equal, more than are remembered",
       [](Comm& dist) {
         std::vector<Comm> all;
         for (int i = 0; i < 66; ++i) all.push_back(dist.split(0));
         all.clear();
         for (int i = 0; i < 5; ++i) dist.split(0);
       },
       66},
      {"equal, alive on one rank",
       [](Comm& dist) {
         std::vector<Comm> all;
         for (int i = 0; i < 5; ++i) {
           const Comm half = dist.split(0);
           if (dist.rank() == 3) all.push_back(half);
         }
       },
       5},
      {"a copy is a use",
       [](Comm& dist) {
         Comm copy = dist;
         {
           const Comm half = dist.split(0);
           copy = half;
         }
         dist.split(0);
       },
       2},
      {"other colors", [](Comm& dist) { dist.split(0), dist.split(1); }, 2},
      {"other keys on one rank",
       [](Comm& dist) { dist.split(0, 0), dist.split(0, dist.rank() == 2 ? 1 : 0); }, 2},
      {"no color: the key does not matter", [](Comm& dist) { dist.split(-1), dist.split(-2, 7); },
       0},
      {"a split of a split, in a loop",
       [](Comm& dist) {
         for (int i = 0; i < 5; ++i) dist.split(0).split(0).barrier();
       },
       2},
      {"other parents",
       [](Comm& dist) {
         const Comm copy = dist.split(0);
         dist.split(1);
         Comm parent = copy;
         parent.split(1);
       },
       3},
  };
  constexpr int kRanks = 4;
  for (const Row& row : rows) {
    const std::string name = row.name;
    CAPTURE(name);
    const Setting setting(kRanks, "nccl");
    const auto run = run_ranks({.world_size = kRanks, .nodes = 2}, [&](Comm& dist) {
      row.program(dist);
      return communicators(dist);
    });
    for (const std::int64_t count : run.results) CHECK(count == 2 * kRanks * (1 + row.worlds));
    CHECK(emulation::live_nccl_communicators() == 0);
  }
}

TEST_CASE("equal communicators that exist together keep their messages apart") {
  const Setting setting(2, "nccl");
  const auto run = run_ranks({.world_size = 2}, [](Comm& dist) {
    Comm first = dist.split(0);
    Comm second = dist.split(0);
    Tensor one = full(1, 1.0f), two = full(1, 2.0f);
    if (dist.rank() == 0) {
      dist.wait_all({first.isend(one, 1), second.isend(two, 1)});
    } else {
      dist.wait_all({second.irecv(two, 0), first.irecv(one, 0)});
    }
    return std::vector<float>{to_host(one)[0], to_host(two)[0]};
  });
  CHECK(run.results[1] == std::vector<float>{1, 2});
}

TEST_CASE("a message in flight outlives its Comm, and the communicator's next user") {
  const Setting setting(2, "nccl");
  const auto run = run_ranks({.world_size = 2}, [](Comm& dist) {
    Tensor early = full(1, 1.0f), late = full(1, 2.0f);
    Request request;
    for (Tensor* const tensor : {&early, &late}) {
      Comm again = dist.split(0);
      const Request before = std::exchange(
          request, dist.rank() == 0 ? again.isend(*tensor, 1) : again.irecv(*tensor, 0));
      if (tensor == &late) dist.wait(before);
    }
    dist.wait(request);
    return std::vector<float>{to_host(early)[0], to_host(late)[0]};
  });
  CHECK(run.results[1] == std::vector<float>{1, 2});
}

TEST_CASE("a failed run names the call on a communicator that is used again") {
  int called_at = 0;
  const NcclRun result = run(ranks(3), [&](Communicator& dist) {
    for (int i = 0; i < 3; ++i) dist.split(0).barrier();
    Communicator again = dist.split(0);
    Tensor data = some(3);
    if (dist.rank() == 1) return;
    if (dist.rank() == 0) called_at = line() + 1;
    again.all_reduce(data);
    dist.synchronize();
  });
  INFO(result.what());
  CHECK(result.is_cause<TimedOut>());
  CHECK(result.context().op == "all_reduce");
  CHECK(contains(result.what(), in_this_file(called_at)));
  CHECK(contains(result.what(), "rank 1  returned"));
}

}  // namespace
}  // namespace rankbox::gpu
