// Calls that spare a program a branch, a tensor or a list: kNoRank, empty requests,
// sendrecv_replace, collectives of numbers, duplicate and group.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/backends/values.h"
#include "tests/backends/worlds.h"

namespace rankbox::testing {
namespace {

/// Returns the neighbour in a row of ranks, which ends at 0 and p - 1.
int neighbour(const Comm& dist, int step) {
  const int rank = dist.rank() + step;
  return rank < 0 || rank >= dist.world_size() ? kNoRank : rank;
}

TEST_CASE("a message to or from kNoRank does nothing: a halo exchange without branches") {
  using Exchange = void (*)(Comm&, Slice row);
  // Element 0 is from the left, 1 and 2 this rank's, 3 from the right.
  const Exchange exchanges[] = {
      [](Comm& dist, Slice row) {
        const int left = neighbour(dist, -1), right = neighbour(dist, 1);
        dist.sendrecv(row.sub(1, 2), left, row.sub(3, 4), right);
        dist.sendrecv(row.sub(2, 3), right, row.sub(0, 1), left);
      },
      [](Comm& dist, Slice row) {
        const int left = neighbour(dist, -1), right = neighbour(dist, 1);
        const Request requests[] = {
            dist.irecv(row.sub(0, 1), left), dist.irecv(row.sub(3, 4), right),
            dist.isend(row.sub(1, 2), left), dist.isend(row.sub(2, 3), right)};
        dist.wait_all(requests);
        for (const Request& request : requests) dist.wait(request);  // again: nothing
      },
      [](Comm& dist, Slice row) {  // one after the other, from the left, then from the right
        const int left = neighbour(dist, -1), right = neighbour(dist, 1);
        dist.recv(row.sub(0, 1), left);
        dist.send(row.sub(2, 3), right);
        dist.recv(row.sub(3, 4), right);
        dist.send(row.sub(1, 2), left);
      },
  };
  for (std::size_t i = 0; i < std::size(exchanges); ++i) {
    for (int p : world_sizes()) {
      CAPTURE(i);
      CAPTURE(p);
      const auto run = run_ranks(world(p), [&](Comm& dist) {
        const auto mine = static_cast<float>(10 * dist.rank());
        Tensor row = from_host({-1.0f, mine + 1, mine + 2, -1.0f});
        exchanges[i](dist, row);
        return to_host(row);
      });
      for (int rank = 0; rank < p; ++rank) {
        const auto mine = static_cast<float>(10 * rank);
        const std::vector<float> expected = {rank == 0 ? -1 : mine - 8, mine + 1, mine + 2,
                                             rank == p - 1 ? -1 : mine + 11};
        CHECK(run.results[static_cast<std::size_t>(rank)] == expected);
      }
    }
  }
}

TEST_CASE("waiting for requests of which some are empty") {
  for (int p : world_sizes(2)) {
    const auto run = run_ranks(world(p), [](Comm& dist) {
      Tensor tensor = full(3, static_cast<float>(dist.rank()));
      std::vector<Request> requests(5);
      if (dist.rank() == 0) requests[2] = dist.isend(tensor, 1);
      if (dist.rank() == 1) requests[4] = dist.irecv(tensor, 0);
      dist.wait_all(requests);
      dist.wait_all({});
      dist.wait(Request());
      return to_host(tensor).front();
    });
    CHECK(run.results[1] == 0);
  }
}

TEST_CASE("sendrecv_replace passes data around a ring, and drops them at the end of a row") {
  for (int p : world_sizes()) {
    for (const bool is_ring : {true, false}) {
      CAPTURE(p);
      CAPTURE(is_ring);
      const auto run = run_ranks(world(p), [&](Comm& dist) {
        Tensor tensor = from_host(letter<float>(dist.rank(), 1, 1'000));
        TensorOf<std::int64_t> none = zeros<std::int64_t>(0);
        const int next = is_ring ? (dist.rank() + 1) % p : neighbour(dist, 1);
        const int prev = is_ring ? (dist.rank() + p - 1) % p : neighbour(dist, -1);
        dist.sendrecv_replace(tensor, next, prev);
        dist.sendrecv_replace(none, next, prev);
        dist.sendrecv_replace(tensor, kNoRank, kNoRank);
        return to_host(tensor);
      });
      for (int rank = 0; rank < p; ++rank) {
        const int from = rank > 0 ? rank - 1 : is_ring ? p - 1 : 0;
        CHECK(same(run.results[static_cast<std::size_t>(rank)], letter<float>(from, 1, 1'000)));
      }
    }
  }
}

TEST_CASE_TEMPLATE("numbers are reduced and broadcast without a tensor", T, float, double,
                   std::int32_t, std::int64_t) {
  for (int p : world_sizes()) {
    const auto run = run_ranks(world(p), [](Comm& dist) {
      const T mine = static_cast<T>(dist.rank()) + T{1};
      return std::vector<T>{dist.all_reduce(mine), dist.all_reduce(mine, ReduceOp::MAX),
                            dist.broadcast(mine, dist.world_size() - 1)};
    });
    const auto n = static_cast<T>(p);
    for (const auto& result : run.results) CHECK(result == std::vector<T>{n * (n + 1) / 2, n, n});
  }
}

TEST_CASE("a group has the named ranks, in the named order; the others are out of it") {
  for (int p : world_sizes()) {
    std::vector<int> all;
    for (int rank = 0; rank < p; ++rank) all.push_back(p - 1 - rank);
    const std::vector<std::vector<int>> lists = {{}, {p - 1}, {p / 2, 0}, all};
    for (std::vector<int> named : lists) {
      if (p == 1 && named.size() == 2) continue;
      const auto run = run_ranks(world(p), [&](Comm& dist) {
        Comm made = dist.group(named);
        const auto at = std::find(named.begin(), named.end(), dist.rank()) - named.begin();
        const bool is_in = at < static_cast<std::ptrdiff_t>(named.size());
        if (!is_in) return made.rank() == -1 && made.world_size() == 0;
        const int sum = made.all_reduce(dist.rank());
        int expected = 0;
        for (const int rank : named) expected += rank;
        return made.rank() == static_cast<int>(at) && sum == expected &&
               made.world_size() == static_cast<int>(named.size());
      });
      CAPTURE(p);
      CAPTURE(named.size());
      for (const bool right : run.results) CHECK(right);
    }
  }
}

TEST_CASE("ranks that name different groups are told so") {
  using Lists = std::vector<int> (*)(int rank);
  const Lists disagreements[] = {
      [](int rank) {
        return rank == 0 ? std::vector{0, 1} : std::vector{1, 0};
      },
      [](int rank) {
        return rank == 0 ? std::vector{0} : std::vector{0, 1};
      },
      [](int rank) { return std::vector{rank}; },
  };
  for (int p : worlds_that_compare(2)) {
    if (launch().processes > 0) return pass_over("a failure of a rank ends the processes");
    for (const Lists lists : disagreements) {
      const Observation seen =
          observe(world(p), [&](Comm& dist) { (void)dist.group(lists(std::min(dist.rank(), 1))); });
      const auto error = require_error<InvalidArgument>(seen);
      INFO(error.what());
      CHECK(contains(error.what(), "all ranks must name the same ones"));
    }
  }
}

TEST_CASE("messages of a duplicate are apart from those of its original") {
  for (int p : world_sizes(2)) {
    const auto run = run_ranks(world(p), [](Comm& dist) {
      Comm library = dist.duplicate();
      Tensor a = full(1, 1.0f);
      Tensor b = full(1, 2.0f);
      Tensor into_a = zeros(1);
      Tensor into_b = zeros(1);
      const int to = (dist.rank() + 1) % dist.world_size();
      const int from = (dist.rank() + dist.world_size() - 1) % dist.world_size();
      // Sent in one order, received in the other.
      const Request requests[] = {dist.isend(a, to), library.isend(b, to),
                                  library.irecv(into_b, from), dist.irecv(into_a, from)};
      dist.wait_all(requests);
      return library.rank() == dist.rank() && to_host(into_a).front() == 1 &&
             to_host(into_b).front() == 2;
    });
    for (const bool right : run.results) CHECK(right);
  }
}

}  // namespace
}  // namespace rankbox::testing
