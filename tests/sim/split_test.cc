// Groups: their members, their order, and their independence.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/sim/observe.h"

namespace rankbox::testing {
namespace {

constexpr int kWorldSizes[] = {1, 2, 3, 5, 8, 17};

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
  };
  for (int world_size : kWorldSizes) {
    for (std::size_t rule = 0; rule < std::size(rules); ++rule) {
      const auto [color, key] = rules[rule];
      CAPTURE(world_size);
      CAPTURE(rule);
      const auto run =
          run_ranks({.world_size = world_size}, [&, color = color, key = key](Comm& dist) {
            const int p = dist.world_size();
            Comm group = dist.split(color(dist.rank(), p), key(dist.rank(), p));
            std::vector<float> expected;
            for (int rank = 0; rank < p; ++rank) {
              if (color(rank, p) == color(dist.rank(), p))
                expected.push_back(static_cast<float>(rank));
            }
            std::stable_sort(expected.begin(), expected.end(), [&](float a, float b) {
              return key(static_cast<int>(a), p) < key(static_cast<int>(b), p);
            });
            return group.world_size() == static_cast<int>(expected.size()) &&
                   expected[static_cast<std::size_t>(group.rank())] ==
                       static_cast<float>(dist.rank()) &&
                   members_of(dist, group) == expected;
          });
      for (bool right : run.results) CHECK(right);
    }
  }
}

TEST_CASE("a negative color joins nothing, and the rest goes on without it") {
  const auto run = run_ranks({.world_size = 5}, [](Comm& dist) {
    Comm group = dist.split(dist.rank() == 2 ? -1 : 4);
    if (dist.rank() == 2) return group.world_size();
    group.barrier();
    return group.world_size() * 10 + group.rank();
  });
  CHECK(run.results == std::vector<int>{40, 41, 0, 42, 43});
}

TEST_CASE("a communicator one is left out of refuses every call, and says why") {
  using Call = void (*)(Comm&);
  const Call calls[] = {
      [](Comm& c) { c.send(zeros(1), 0); },
      [](Comm& c) {
        Tensor t = zeros(1);
        c.recv(t, 0);
      },
      [](Comm& c) {
        Tensor t = zeros(1);
        c.sendrecv(zeros(1), 0, t, 0);
      },
      [](Comm& c) { (void)c.isend(zeros(1), 0); },
      [](Comm& c) {
        Tensor t = zeros(1);
        (void)c.irecv(t, 0);
      },
      [](Comm& c) { c.barrier(); },
      [](Comm& c) { (void)c.barrier_async(); },
      [](Comm& c) {
        Tensor t = zeros(1);
        c.broadcast(t, 0);
      },
      [](Comm& c) {
        Tensor t = zeros(1);
        c.all_reduce(t);
      },
      [](Comm& c) {
        Tensor t = zeros(1);
        (void)c.reduce_scatter_async(zeros(1), t);
      },
      [](Comm& c) { (void)c.split(0); },
      [](Comm& c) { c.wait(Request()); },
      [](Comm& c) { c.compute(1); },
  };
  for (std::size_t i = 0; i < std::size(calls); ++i) {
    CAPTURE(i);
    const auto seen = observe({.world_size = 2}, [&](Comm& dist) {
      Comm group = dist.split(dist.rank() - 1);
      if (dist.rank() == 0) calls[i](group);
    });
    INFO(what_of(seen.thrown));
    const auto error = require_error<InvalidArgument>(seen);
    CHECK(error.rank() == 0);
    for (const std::string& part : {std::string("color"), place_of(error)})
      CHECK(contains(error.what(), part));
  }
}

TEST_CASE("splits nest: a grid of rows, columns and halves of rows") {
  const auto run = run_ranks({.world_size = 12}, [](Comm& dist) {
    Comm row = dist.split(dist.rank() / 4);
    Comm column = dist.split(dist.rank() % 4);
    Comm half = row.split(row.rank() / 2, -row.rank());
    Comm rest = half.split(half.rank() == 0 ? 0 : -1);
    const std::vector<float> in_row = members_of(dist, row);
    const std::vector<float> in_column = members_of(dist, column);
    const std::vector<float> in_half = members_of(dist, half);
    const auto r = static_cast<float>(dist.rank() / 4 * 4);
    const auto c = static_cast<float>(dist.rank() % 4);
    const float h = r + (c < 2 ? 0.0f : 2.0f);
    return in_row == std::vector<float>{r, r + 1, r + 2, r + 3} &&
           in_column == std::vector<float>{c, c + 4, c + 8} &&
           in_half == std::vector<float>{h + 1, h} &&
           rest.world_size() == (half.rank() == 0 ? 1 : 0);
  });
  for (bool right : run.results) CHECK(right);
}

TEST_CASE("messages stay within their group, though the same two ranks talk in several") {
  const auto run = run_ranks({.world_size = 2}, [](Comm& dist) {
    Comm second = dist.split(0);
    Comm reversed = dist.split(0, -dist.rank());
    std::vector<float> received;
    Tensor a = full(1, 1.0f);
    Tensor b = full(1, 2.0f);
    Tensor c = full(1, 3.0f);
    if (dist.rank() == 0) {
      dist.wait_all({dist.isend(a, 1), second.isend(b, 1), reversed.isend(c, 0)});
    } else {
      reversed.recv(c, 1);
      second.recv(b, 0);
      dist.recv(a, 0);
    }
    return std::vector<float>{element(a, 0), element(b, 0), element(c, 0)};
  });
  CHECK(run.results[1] == std::vector<float>{1, 2, 3});
}

TEST_CASE("groups work at the same time and at their own pace") {
  for_each_schedule(3, [&](std::uint64_t seed) {
    const auto run = run_ranks({.world_size = 8, .seed = seed}, [](Comm& dist) {
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
      Tensor total = full(1, element(sum, 63));
      dist.all_reduce(total);
      return element(total, 0);
    });
    // Groups of 3, 3 and 2 ranks.
    CHECK(run.results == std::vector<float>(8, 3 * 6.0f + 3 * 11.0f + 2 * 16.0f));
  });
}

TEST_CASE("the trace numbers groups the same way, whatever the schedule") {
  std::vector<std::vector<int>> first;
  for_each_schedule(10, [&](std::uint64_t seed) {
    const auto run = run_ranks({.world_size = 6, .seed = seed}, [](Comm& dist) {
      Comm half = dist.split(dist.rank() / 3);
      // The halves split again a different number of times, concurrently.
      Comm inner = half.split(half.rank() % 2);
      if (dist.rank() < 3) (void)half.split(0);
      (void)inner.split(0);
      (void)dist.split(dist.rank() == 0 ? -1 : 0);
    });
    const std::vector<std::vector<int>>& groups = run.report.trace.groups;
    REQUIRE(groups.size() == 1 + 2 + 4 + 1 + 4 + 1);
    CHECK(groups[0] == std::vector<int>{0, 1, 2, 3, 4, 5});
    for (std::size_t rank = 0; rank < 6; ++rank) {
      for (const Event& event : run.report.trace.ranks[rank]) {
        const std::vector<int>& members = groups[static_cast<std::size_t>(event.group)];
        CHECK(std::count(members.begin(), members.end(), static_cast<int>(rank)) == 1);
      }
    }
    if (first.empty()) first = groups;
    CHECK(groups == first);
  });
}

}  // namespace
}  // namespace rankbox::testing
