// Groups: their members and order, and their isolation from each other.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "collectives/topology.h"
#include "comm/run_ranks.h"
#include "tests/backends/worlds.h"

namespace rankbox::testing {
namespace {

/// Returns the world ranks of a group, in its order.
std::vector<float> members_of(Comm& dist, Comm& group) {
  const Tensor me = full(1, static_cast<float>(dist.rank()));
  Tensor all = zeros(group.world_size());
  group.all_gather(me, all);
  return to_host(all);
}

TEST_CASE("ranks of one color form a group, in the order of key, then rank") {
  using Rule = int (*)(int rank, int world_size);
  const std::pair<Rule, Rule> rules[] = {
      {[](int, int) { return 0; }, [](int, int) { return 0; }},
      {[](int r, int) { return r % 2; }, [](int, int) { return 0; }},
      {[](int r, int) { return r / 2; }, [](int r, int) { return -r; }},
      {[](int r, int) { return 1000 - r % 3; }, [](int r, int) { return r % 2; }},
      {[](int r, int p) { return r == p - 1 ? 7 : 3; }, [](int r, int p) { return p - r; }},
      {[](int r, int) { return r; }, [](int r, int) { return r; }},
      {[](int, int) { return 0x7fffffff; }, [](int r, int) { return r % 2 == 0 ? -5 : 5; }},
  };
  std::vector<int> sizes = world_sizes();
  // More ranks than GPUs, where ranks are threads.
  if (launch().processes == 0 && !is_over_nccl(17)) sizes.push_back(17);
  for (int p : sizes) {
    CAPTURE(p);
    const auto run = run_ranks(world(p), [&](Comm& dist) {
      std::vector<std::size_t> wrong;  // rules
      for (std::size_t rule = 0; rule < std::size(rules); ++rule) {
        const Rule color = rules[rule].first, key = rules[rule].second;
        Comm group = dist.split(color(dist.rank(), p), key(dist.rank(), p));
        std::vector<float> expected;
        for (int rank = 0; rank < p; ++rank) {
          if (color(rank, p) == color(dist.rank(), p)) expected.push_back(static_cast<float>(rank));
        }
        std::stable_sort(expected.begin(), expected.end(), [&](float a, float b) {
          return key(static_cast<int>(a), p) < key(static_cast<int>(b), p);
        });
        const bool right =
            group.world_size() == static_cast<int>(expected.size()) &&
            expected[static_cast<std::size_t>(group.rank())] == static_cast<float>(dist.rank()) &&
            members_of(dist, group) == expected;
        if (!right) wrong.push_back(rule);
      }
      return wrong;
    });
    for (const std::vector<std::size_t>& wrong : run.results)
      CHECK(wrong == std::vector<std::size_t>());
  }
}

TEST_CASE("a negative color joins nothing, and the rest goes on without it") {
  for (int p : world_sizes(2)) {
    const auto run = run_ranks(world(p), [](Comm& dist) {
      Comm group = dist.split(dist.rank() == 1 ? -1 : 4);
      if (dist.rank() == 1) return std::vector<int>{group.world_size(), group.rank()};
      group.barrier();
      return std::vector<int>{group.world_size(), group.rank()};
    });
    for (int rank = 0; rank < p; ++rank) {
      const std::vector<int> expected = {p - 1, rank == 0 ? 0 : rank - 1};
      CHECK(run.results[static_cast<std::size_t>(rank)] ==
            (rank == 1 ? std::vector<int>{0, -1} : expected));
    }
  }
}

TEST_CASE("a communicator that a rank is left out of refuses every call, and says why") {
  using Call = void (*)(Comm&);
  const Call calls[] = {
      [](Comm& c) { c.send(zeros(1), 0); },
      [](Comm& c) { c.recv(zeros(1), 0); },
      [](Comm& c) { c.sendrecv(zeros(1), 0, zeros(1), 0); },
      [](Comm& c) { (void)c.isend(zeros(1), 0); },
      [](Comm& c) { (void)c.irecv(zeros(1), 0); },
      [](Comm& c) { c.barrier(); },
      [](Comm& c) { (void)c.barrier_async(); },
      [](Comm& c) { c.broadcast(zeros(1), 0); },
      [](Comm& c) { c.all_reduce(zeros(1)); },
      [](Comm& c) { (void)c.reduce_scatter_async(zeros(1), zeros(1)); },
      [](Comm& c) { (void)c.split(0); },
      [](Comm& c) { c.wait(Request()); },
      [](Comm& c) { c.compute(1); },
  };
  for (int p : world_sizes()) {
    const auto run = run_ranks(world(p), [&](Comm& dist) {
      std::vector<std::string> wrong;
      Comm group = dist.split(dist.rank() - 1);
      for (std::size_t i = 0; i < std::size(calls) && dist.rank() == 0; ++i) {
        try {
          calls[i](group);
          wrong.push_back(std::to_string(i));
        } catch (const InvalidArgument& error) {
          const std::string text = error.what();
          if (error.rank() != 0 || !contains(text, "color") || !contains(text, place_of(error)))
            wrong.push_back(std::to_string(i) + ": " + text);
        }
      }
      return wrong;
    });
    for (const std::vector<std::string>& wrong : run.results)
      CHECK(wrong == std::vector<std::string>());
  }
}

TEST_CASE("splits nest, with keys that turn the order around") {
  for (int p : world_sizes()) {
    const auto run = run_ranks(world(p), [&](Comm& dist) {
      Comm half = dist.split(dist.rank() % 2, -dist.rank());
      Comm quarter = half.split(half.rank() % 2);
      Comm first = quarter.split(quarter.rank() == 0 ? 0 : -1);
      // The same, computed directly.
      std::vector<float> in_half;
      for (int rank = p - 1; rank >= 0; --rank) {
        if (rank % 2 == dist.rank() % 2) in_half.push_back(static_cast<float>(rank));
      }
      std::vector<float> in_quarter;
      for (std::size_t i = static_cast<std::size_t>(half.rank() % 2); i < in_half.size(); i += 2)
        in_quarter.push_back(in_half[i]);
      return members_of(dist, half) == in_half && members_of(dist, quarter) == in_quarter &&
             first.world_size() == (quarter.rank() == 0 ? 1 : 0);
    });
    CAPTURE(p);
    for (bool right : run.results) CHECK(right);
  }
}

TEST_CASE("messages stay within their group, though the same two ranks talk in several") {
  for (int p : world_sizes(2)) {
    const auto run = run_ranks(world(p), [&](Comm& dist) {
      Comm second = dist.split(0);
      Comm reversed = dist.split(0, -dist.rank());
      Tensor a = full(1, 1.0f);
      Tensor b = full(1, 2.0f);
      Tensor c = full(1, 3.0f);
      const int last = p - 1;
      if (dist.rank() == 0) {
        dist.wait_all({dist.isend(a, last), second.isend(b, last), reversed.isend(c, 0)});
      } else if (dist.rank() == last) {
        a = zeros(1), b = zeros(1), c = zeros(1);
        reversed.recv(c, last);
        second.recv(b, 0);
        dist.recv(a, 0);
      }
      return std::vector<float>{to_host(a)[0], to_host(b)[0], to_host(c)[0]};
    });
    CHECK(run.results.back() == std::vector<float>{1, 2, 3});
  }
}

TEST_CASE("groups work at the same time and at their own pace") {
  for (int p : world_sizes()) {
    for (std::uint64_t seed : {0, 1}) {
      RunOptions options = world(p);
      options.seed = seed;
      const auto run = run_ranks(options, [](Comm& dist) {
        Comm group = dist.split(dist.rank() % 3);
        Tensor sum = full(64, 1.0f);
        // Group 0 does 5 rounds, group 1 does 10, group 2 does 15.
        const int rounds = 5 * (dist.rank() % 3 + 1);
        for (int round = 0; round < rounds; ++round) {
          group.all_reduce(sum);
          sum /= static_cast<float>(group.world_size());
          sum += full(64, 1.0f);
          if (round % 4 == 3) group.barrier();
        }
        Tensor total = full(1, to_host(sum)[63]);
        dist.all_reduce(total);
        return to_host(total)[0];
      });
      float expected = 0;
      for (int rank = 0; rank < p; ++rank) expected += static_cast<float>(5 * (rank % 3 + 1) + 1);
      for (float total : run.results) CHECK(total == expected);
    }
  }
}

TEST_CASE("a collective of one group is under way while the next one is made, and used") {
  for (int p : world_sizes()) {
    const auto run = run_ranks(world(p), [&](Comm& dist) {
      Tensor sum = full(40'000, 1.0f);
      const Request request = dist.all_reduce_async(sum);
      std::vector<Comm> groups = {dist};
      for (int i = 0; i < 5; ++i) {
        groups.push_back(groups.back().split(0, -groups.back().rank()));
        Tensor in = zeros(1);
        Comm& group = groups.back();
        group.sendrecv(full(1, static_cast<float>(i)), next_rank(group.rank(), p), in,
                       prev_rank(group.rank(), p));
        if (to_host(in)[0] != static_cast<float>(i)) return -1.0f;
      }
      dist.wait(request);
      return to_host(sum).back();
    });
    for (float sum : run.results) CHECK(sum == static_cast<float>(p));
  }
}

TEST_CASE("node and local rank are those of the world, also in a group") {
  for (int p : world_sizes()) {
    for (int nodes = 1; nodes <= p; ++nodes) {
      RunOptions options = world(p);
      options.nodes = nodes;
      const auto run = run_ranks(options, [](Comm& dist) {
        Comm group = dist.split(dist.rank() % 2);
        const bool same = group.node() == dist.node() && group.local_rank() == dist.local_rank();
        return std::vector<int>{dist.node(), dist.local_rank(), same ? 1 : 0};
      });
      CAPTURE(p);
      CAPTURE(nodes);
      std::vector<int> ranks_of(static_cast<std::size_t>(nodes), 0);
      int last = 0;
      for (int rank = 0; rank < p; ++rank) {
        const std::vector<int>& seen = run.results[static_cast<std::size_t>(rank)];
        CHECK(seen[0] == rank * nodes / p);
        CHECK(seen[0] >= last);
        CHECK(seen[1] == ranks_of[static_cast<std::size_t>(seen[0])]++);
        CHECK(seen[2] == 1);
        last = seen[0];
      }
    }
  }
}

TEST_CASE("many groups, one after the other") {
  for (int p : world_sizes()) {
    const auto run = run_ranks(world(p), [](Comm& dist) {
      float sum = 0;
      for (int i = 0; i < 60; ++i) {
        Comm group = dist.split((dist.rank() + i) % 2, i % 2 == 0 ? 0 : -dist.rank());
        Tensor one = full(1, 1.0f);
        group.all_reduce(one);
        sum += to_host(one)[0];
      }
      return sum;
    });
    for (int rank = 0; rank < p; ++rank) {
      const int even = (p + 1) / 2;
      // Each time, a rank is with all ranks of its parity.
      CHECK(run.results[static_cast<std::size_t>(rank)] ==
            static_cast<float>(60 * (rank % 2 == 0 ? even : p - even)));
    }
  }
}

}  // namespace
}  // namespace rankbox::testing
