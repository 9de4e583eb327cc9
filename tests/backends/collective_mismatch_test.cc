// Ranks that call different collectives, or the same with different arguments, get an error.
#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/backends/worlds.h"
#include "tests/support/run_tests.h"

namespace rankbox::testing {
namespace {

constexpr const char* kHere = "collective_mismatch_test.cc:";

using Call = std::function<void(Comm&, Tensor&, Tensor&)>;

struct Disagreement {
  const char* name;
  Call most;   // the call of all ranks but one
  Call other;  // the call of that one
  std::string field;
  std::string most_says;
  std::string other_says;
};

const std::vector<Disagreement>& disagreements() {
  using T = Tensor;
  static const auto doubles = [](Comm& dist, T&, T&) {
    TensorOf<double> tensor = zeros<double>(4);
    dist.all_reduce(tensor);
  };
  static const std::vector<Disagreement> all = {
      {"kinds", [](Comm& d, T&, T&) { d.barrier(); }, [](Comm& d, T& t, T&) { d.all_reduce(t); },
       "collective", "barrier()", "all_reduce("},
      {"kinds of the same arguments", [](Comm& d, T& t, T&) { d.broadcast(t, 0); },
       [](Comm& d, T& t, T&) { d.reduce(t, 0); }, "collective", "broadcast(", "reduce("},
      {"split and barrier", [](Comm& d, T&, T&) { (void)d.split(0); },
       [](Comm& d, T&, T&) { d.barrier(); }, "collective", "split()", "barrier()"},
      {"root of broadcast", [](Comm& d, T& t, T&) { d.broadcast(t, 0); },
       [](Comm& d, T& t, T&) { d.broadcast(t, 1); }, "root", "root 0", "root 1"},
      {"root of reduce", [](Comm& d, T& t, T&) { d.reduce(t, 1); },
       [](Comm& d, T& t, T&) { d.reduce(t, 0); }, "root", "root 1", "root 0"},
      {"root of gather", [](Comm& d, T& t, T& all_of) { d.gather(t, all_of, 0); },
       [](Comm& d, T& t, T& all_of) { d.gather(t, all_of, 1); }, "root", "root 0", "root 1"},
      {"root of scatter", [](Comm& d, T& t, T& all_of) { d.scatter(all_of, t, 0); },
       [](Comm& d, T& t, T& all_of) { d.scatter(all_of, t, 1); }, "root", "root 0", "root 1"},
      {"op of reduce", [](Comm& d, T& t, T&) { d.reduce(t, 0, ReduceOp::SUM); },
       [](Comm& d, T& t, T&) { d.reduce(t, 0, ReduceOp::PRODUCT); }, "op", "op SUM", "op PRODUCT"},
      {"op of all_reduce", [](Comm& d, T& t, T&) { d.all_reduce(t, ReduceOp::SUM); },
       [](Comm& d, T& t, T&) { d.all_reduce(t, ReduceOp::AVG); }, "op", "op SUM", "op AVG"},
      {"size of all_reduce", [](Comm& d, T& t, T&) { d.all_reduce(t); },
       [](Comm& d, T& t, T&) { d.all_reduce(chunk(t, 0, 2)); }, "size", "4 float32", "2 float32"},
      {"size of broadcast", [](Comm& d, T& t, T&) { d.broadcast(t, 0); },
       [](Comm& d, T& t, T&) { d.broadcast(Slice(t).sub(0, 0), 0); }, "size", "4 float32",
       "0 float32"},
      {"size of all_gather", [](Comm& d, T& t, T& all_of) { d.all_gather(t, all_of); },
       [](Comm& d, T& t, T& all_of) {
         const std::int64_t half = all_of.size() / 2;
         d.all_gather(Slice(t).sub(0, 2), Slice(all_of).sub(0, half));
       },
       "size", " float32 gathered", " float32 gathered"},
      {"a collective and its like of unequal pieces",
       [](Comm& d, T& t, T& all_of) { d.all_gather(t, all_of); },
       [](Comm& d, T& t, T& all_of) {
         const std::vector<std::int64_t> counts(static_cast<std::size_t>(d.world_size()), 4);
         d.all_gather_v(t, all_of, counts);
       },
       "collective", "all_gather(", "all_gather_v("},
      {"dtype of all_reduce", [](Comm& d, T& t, T&) { d.all_reduce(t); }, doubles, "dtype",
       "4 float32", "4 float64"},
      {"root, op and size at once", [](Comm& d, T& t, T&) { d.reduce(t, 0, ReduceOp::MAX); },
       [](Comm& d, T& t, T&) { d.reduce(chunk(t, 0, 4), 1, ReduceOp::MIN); }, "root, op, size",
       "root 0, op MAX, 4 float32", "root 1, op MIN, 1 float32"},
      {"asynchronous and of another op", [](Comm& d, T& t, T&) { d.wait(d.all_reduce_async(t)); },
       [](Comm& d, T& t, T&) { d.wait(d.all_reduce_async(t, ReduceOp::MAX)); }, "op", "op SUM",
       "op MAX"},
      {"blocking and asynchronous, of another root", [](Comm& d, T& t, T&) { d.broadcast(t, 1); },
       [](Comm& d, T& t, T&) { d.wait(d.broadcast_async(t, 0)); }, "root", "root 1", "root 0"},
  };
  return all;
}

TEST_CASE("ranks that call different collectives, or the same with different arguments") {
  for (const Disagreement& row : disagreements()) {
    if (!wants_row(row.name)) continue;
    for (int p : worlds_that_compare(2)) {
      for (int odd : {0, p - 1}) {
        const std::string name = row.name;
        CAPTURE(name);
        CAPTURE(p);
        CAPTURE(odd);
        RunOptions options = world(p);
        options.seed = static_cast<std::uint64_t>(odd);
        const Observation seen = observe(options, [&](Comm& dist, std::string& note) {
          Tensor tensor = full(4, 3.0f);
          Tensor gathered = full(4 * p, 5.0f);
          try {
            (dist.rank() == odd ? row.other : row.most)(dist, tensor, gathered);
          } catch (...) {
            if (to_host(tensor) != std::vector<float>(4, 3.0f) ||
                to_host(gathered) != std::vector<float>(static_cast<std::size_t>(4 * p), 5.0f))
              note = "touched";
            throw;
          }
        });
        const std::string what = what_of(seen.thrown);
        INFO(what);
        require_error<CollectiveMismatch>(seen);
        CHECK(contains(what, row.field));
        CHECK(contains(what, row.most_says));
        CHECK(contains(what, row.other_says));
        CHECK(contains(what, "rank " + std::to_string(odd)));
        const std::size_t first_place = what.find(kHere);
        REQUIRE(first_place != std::string::npos);
        CHECK(what.find(kHere, first_place + 1) != std::string::npos);
        CHECK(std::count(what.begin(), what.end(), '\n') == 0);
        // A rank that calls in time gets the mismatch; one that calls after the world stopped gets
        // Aborted.
        CHECK(ended_as<CollectiveMismatch>(seen, odd));
        for (int rank = 0; rank < p; ++rank) {
          INFO(what_of(seen.ranks[static_cast<std::size_t>(rank)]));
          CHECK(seen.notes[static_cast<std::size_t>(rank)].empty());
          CHECK((ended_as<CollectiveMismatch>(seen, rank) || ended_as<Aborted>(seen, rank)));
        }
      }
    }
  }
}

using Counts = std::vector<std::int64_t>;

TEST_CASE("a rank that sends another number than its receiver counts on: both are named") {
  struct Row {
    const char* name;
    bool
        odd_sends;  // rank 1 sends `one` to rank 0, else it counts on `one` from rank 0; all others: 4
    std::function<void(Comm&, const Counts& sent, const Counts& received, std::int64_t one)> call;
  };
  const auto sum = [](const Counts& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  };
  const Row rows[] = {
      {"gather_v", true,
       [&](Comm& d, const Counts&, const Counts& received, std::int64_t one) {
         const Tensor mine = zeros(d.rank() == 1 ? one : 4);
         Tensor all = zeros(sum(received));
         d.gather_v(mine, all, received, 0);
       }},
      {"all_gather_v", false,
       [&](Comm& d, const Counts&, Counts received, std::int64_t one) {
         if (d.rank() == 1) received = {one, 8 - one};  // together as many
         received.resize(static_cast<std::size_t>(d.world_size()), 4);
         const Tensor mine = zeros(received[static_cast<std::size_t>(d.rank())]);
         Tensor all = zeros(sum(received));
         d.all_gather_v(mine, all, received);
       }},
      {"all_to_all_v", true,
       [&](Comm& d, const Counts& sent, const Counts& received, std::int64_t) {
         const Tensor mine = zeros(sum(sent));
         Tensor all = zeros(sum(received));
         d.wait(d.all_to_all_v_async(mine, sent, all, received));
       }},
  };
  for (const Row& row : rows) {
    for (int p : worlds_that_compare(2)) {
      for (const std::int64_t one : {0, 3, 5}) {
        const std::string name = row.name;
        CAPTURE(name);
        CAPTURE(p);
        CAPTURE(one);
        const Observation seen = observe(world(p), [&](Comm& dist) {
          Counts sent(static_cast<std::size_t>(p), 4);
          const Counts received = sent;
          if (dist.rank() == 1) sent[0] = one;
          row.call(dist, sent, received, one);
        });
        const auto error = require_error<CollectiveMismatch>(seen);
        INFO(error.what());
        const std::string odd = std::to_string(one);
        const std::string words =
            row.odd_sends ? "rank 1 sends " + odd + " float32 to rank 0, which counts on 4"
                          : "rank 0 sends 4 float32 to rank 1, which counts on " + odd;
        CHECK(contains(error.what(), "mismatch in counts"));
        CHECK(contains(error.what(), words));
        CHECK(error.context().rank == (row.odd_sends ? 1 : 0));
        CHECK(error.context().op.starts_with(row.name));
      }
    }
  }
}

TEST_CASE("of several under way the second one disagrees, whichever is waited for first") {
  for (int p : worlds_that_compare(2)) {
    for (std::size_t first : {0, 1, 2}) {
      const Observation seen = observe(world(p), [&](Comm& dist) {
        std::vector<Tensor> tensors;
        for (int i = 0; i < 3; ++i) tensors.push_back(zeros(3));
        std::vector<Request> requests;
        for (int i = 0; i < 3; ++i) {
          const bool odd = i == 1 && dist.rank() == 1;
          requests.push_back(dist.all_reduce_async(tensors[static_cast<std::size_t>(i)],
                                                   odd ? ReduceOp::MAX : ReduceOp::MIN));
        }
        std::swap(requests[0], requests[first]);
        dist.wait_all(requests);
      });
      CHECK(ended_as<CollectiveMismatch>(seen));
    }
  }
}

TEST_CASE("within a group a mismatch names ranks of the world") {
  for (int p : worlds_that_compare(4)) {
    const Observation seen = observe(world(p), [](Comm& dist) {
      Comm half = dist.split(dist.rank() % 2);
      Tensor tensor = zeros(1);
      half.broadcast(tensor, dist.rank() == 3 ? 1 : 0);
    });
    const auto error = require_error<CollectiveMismatch>(seen);
    for (const char* value : {"root 1", "rank 3", "root 3"}) CHECK(contains(error.what(), value));
    if (p < 6) CHECK(contains(error.what(), "rank 1"));  // the only other one
  }
}

TEST_CASE("one barrier too few, then a collective: the ranks disagree") {
  for (int p : worlds_that_compare(2)) {
    const Observation seen = observe(world(p), [](Comm& dist) {
      Tensor tensor = zeros(1);
      if (dist.rank() != 1) dist.barrier();
      dist.all_reduce(tensor);
    });
    const auto error = require_error<CollectiveMismatch>(seen);
    for (const char* value : {"rank 1", "all_reduce(", "barrier()"})
      CHECK(contains(error.what(), value));
  }
}

TEST_CASE("a mismatch whose error every rank swallows still fails the run") {
  for (int p : worlds_that_compare(2)) {
    const Observation seen = observe(world(p), [](Comm& dist) {
      Tensor tensor = zeros(1);
      try {
        dist.broadcast(tensor, dist.rank() == 0 ? 1 : 0);
      } catch (const CollectiveMismatch&) {
      } catch (const Aborted&) {
      }
    });
    CHECK(ended_as<CollectiveMismatch>(seen));
  }
}

}  // namespace
}  // namespace rankbox::testing
