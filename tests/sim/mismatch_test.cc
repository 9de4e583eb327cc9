// Both sides of a mismatch receive an error, and nothing is copied.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/sim/observe.h"
#include "tests/support/run_tests.h"

namespace rankbox::testing {
namespace {

constexpr const char* kHere = "mismatch_test.cc:";

std::string place(int line) { return kHere + std::to_string(line); }

// Below, `late` is the rank that arrives last: the sender, or the receiver.

void check_both_told(const Observation& seen, const std::vector<int>& lines) {
  require_error<MessageMismatch>(seen);
  for (int rank : {0, 1}) {
    CAPTURE(rank);
    const auto error = require_error<MessageMismatch>(seen, rank);
    CHECK(error.rank() == rank);
    CHECK(error.peer() == 1 - rank);
    CHECK(error.line() == lines[static_cast<std::size_t>(rank)]);
    for (int line : lines) CHECK(contains(error.what(), place(line)));
    for (const char* side : {"rank 0", "rank 1"}) CHECK(contains(error.what(), side));
  }
}

TEST_CASE("a message of another size: both ranks fail, nothing is copied") {
  for (int late : {0, 1}) {
    for (const std::pair<int, int>& counts :
         {std::pair{3, 4}, {4, 3}, {0, 1}, {1, 0}, {1000, 999}}) {
      const int sent = counts.first;
      const int received = counts.second;
      std::vector<int> lines(2);
      std::vector<float> untouched;
      const Observation seen = observe({.world_size = 2}, [&](Comm& dist) {
        delay(dist, late);
        if (dist.rank() == 0) {
          const Tensor tensor = full(sent, 1.0f);
          lines[0] = __LINE__ + 1;
          dist.send(tensor, 1);
        } else {
          Tensor tensor = full(received, -1.0f);
          lines[1] = __LINE__ + 2;
          try {
            dist.recv(tensor, 0);
          } catch (...) {
            untouched = to_host(tensor);
            throw;
          }
        }
      });
      CAPTURE(late);
      CAPTURE(sent);
      check_both_told(seen, lines);
      CHECK(contains(what_of(seen.thrown), std::to_string(sent) + " float32"));
      CHECK(contains(what_of(seen.thrown), std::to_string(received) + " float32"));
      CHECK(untouched == std::vector<float>(static_cast<std::size_t>(received), -1.0f));
    }
  }
}

TEST_CASE("a message of another dtype, even of as many bytes") {
  for (int late : {0, 1}) {
    std::vector<int> lines(2);
    std::vector<std::int32_t> untouched;
    const Observation seen = observe({.world_size = 2}, [&](Comm& dist) {
      delay(dist, late);
      if (dist.rank() == 0) {
        const Tensor tensor = full(6, 1.0f);
        lines[0] = __LINE__ + 1;
        dist.send(tensor, 1);
      } else {
        TensorOf<std::int32_t> tensor = full<std::int32_t>(6, -1);
        lines[1] = __LINE__ + 2;
        try {
          dist.recv(tensor, 0);
        } catch (...) {
          untouched = to_host(tensor);
          throw;
        }
      }
    });
    check_both_told(seen, lines);
    CHECK(contains(what_of(seen.thrown), "float32"));
    CHECK(contains(what_of(seen.thrown), "int32"));
    CHECK(untouched == std::vector<std::int32_t>(6, -1));
  }
}

TEST_CASE("asynchronous messages tell it to whoever waits") {
  for (int late : {0, 1}) {
    std::vector<int> lines(2);
    const Observation seen = observe({.world_size = 2}, [&](Comm& dist) {
      delay(dist, late);
      Tensor tensor = zeros(dist.rank() + 1);
      Request request;
      if (dist.rank() == 0) {
        lines[0] = __LINE__ + 1;
        request = dist.isend(tensor, 1);
      } else {
        lines[1] = __LINE__ + 1;
        request = dist.irecv(tensor, 0);
      }
      dist.wait(request);
    });
    check_both_told(seen, lines);
  }
}

TEST_CASE("a mismatch that no rank came to wait for is reported, and not the deadlock after it") {
  for (int late : {0, 1}) {
    std::vector<int> lines(2);
    const Observation seen = observe({.world_size = 3}, [&](Comm& dist) {
      delay(dist, late);
      Tensor tensor = zeros(dist.rank() + 1);
      Request request;
      if (dist.rank() == 0) {
        lines[0] = __LINE__ + 1;
        request = dist.isend(tensor, 1);
      } else if (dist.rank() == 1) {
        lines[1] = __LINE__ + 1;
        request = dist.irecv(tensor, 0);
      }
      Tensor other = zeros(5);
      dist.recv(other, (dist.rank() + 1) % 3);  // all wait in a circle
      dist.wait(request);
    });
    const auto error = require_error<MessageMismatch>(seen);
    INFO(error.what());
    CHECK(error.rank() == 0);
    CHECK(error.line() == lines[0]);
    for (int line : lines) CHECK(contains(error.what(), place(line)));
  }
}

TEST_CASE("a sendrecv that disagrees with its neighbour") {
  for (int late : {0, 1}) {
    std::vector<int> lines(2);
    const Observation seen = observe({.world_size = 2}, [&](Comm& dist) {
      delay(dist, late);
      Tensor in = zeros(2);
      const Tensor out = zeros(dist.rank() == 0 ? 3 : 2);
      lines[static_cast<std::size_t>(dist.rank())] = __LINE__ + 1;
      dist.sendrecv(out, 1 - dist.rank(), in, 1 - dist.rank());
    });
    check_both_told(seen, lines);
  }
}

TEST_CASE("a sendrecv whose receive does not fit says so, though its send is still under way") {
  const Observation seen = observe({.world_size = 3}, [&](Comm& dist) {
    delay(dist, 1);
    Tensor two = zeros(2);
    Tensor three = zeros(3);
    if (dist.rank() == 0) dist.sendrecv(two, 2, three, 1);
    if (dist.rank() == 1) dist.send(two, 0);
    if (dist.rank() == 2) dist.recv(two, 1);  // and would match rank 0's message after that
  });
  CHECK(ended_as<MessageMismatch>(seen));
  CHECK(ended_as<MessageMismatch>(seen, 1));
  CHECK(ended_as<MessageMismatch>(seen, 0));
  CHECK(ended_as<Aborted>(seen, 2));
}

TEST_CASE("the mismatch of a sendrecv names the rank of the half that does not fit") {
  for (const bool send_fits : {false, true}) {
    for (const int late : {0, 1}) {
      CAPTURE(send_fits);
      CAPTURE(late);
      const Observation seen = observe({.world_size = 3}, [&](Comm& dist) {
        delay(dist, late);
        Tensor two = zeros(2);
        Tensor three = zeros(3);
        // Rank 0 sends to 1 and receives from 2, or the other way round.
        const int dst = send_fits ? 2 : 1;
        if (dist.rank() == 0) dist.sendrecv(two, dst, three, 3 - dst);
        if (dist.rank() == 1 && !send_fits) dist.recv(three, 0);
        if (dist.rank() == 1 && send_fits) dist.send(two, 0);
        if (dist.rank() == 2) dist.recv(two, 1);  // waits until the end
      });
      CHECK(require_error<MessageMismatch>(seen).rank() == 0);
      CHECK(require_error<MessageMismatch>(seen, 0).peer() == 1);
      CHECK(require_error<MessageMismatch>(seen, 1).peer() == 0);
    }
  }
}

TEST_CASE("a buffered message that does not fit fails its receiver, and stops its sender") {
  for (int late : {0, 1}) {
    std::vector<int> lines(2);
    const Observation seen =
        observe({.world_size = 2, .buffering = Buffering::unbounded()}, [&](Comm& dist) {
          delay(dist, late);
          Tensor tensor = zeros(dist.rank() + 1);
          if (dist.rank() == 0) {
            lines[0] = __LINE__ + 1;
            dist.send(tensor, 1);
            dist.barrier();
          } else {
            lines[1] = __LINE__ + 1;
            dist.recv(tensor, 0);
          }
        });
    CHECK(ended_as<Aborted>(seen, 0));
    require_error<MessageMismatch>(seen);
    const auto error = require_error<MessageMismatch>(seen, 1);
    for (int line : lines) CHECK(contains(error.what(), place(line)));
  }
}

// ---- Collectives ----------------------------------------------------------------------------

using Call = std::function<void(Comm&, Tensor&, Tensor&)>;

struct Disagreement {
  const char* name;
  Call most;   // what all ranks but one call
  Call other;  // what that one calls
  std::string field;
  std::string most_says;
  std::string other_says;
};

const std::vector<Disagreement>& disagreements() {
  static const auto doubles = [](Comm& dist, Tensor&, Tensor&) {
    TensorOf<double> tensor = zeros<double>(4);
    dist.all_reduce(tensor);
  };
  static const std::vector<Disagreement> all = {
      {"kinds", [](Comm& d, Tensor&, Tensor&) { d.barrier(); },
       [](Comm& d, Tensor& t, Tensor&) { d.all_reduce(t); }, "collective", "barrier()",
       "all_reduce("},
      {"kinds of the same arguments", [](Comm& d, Tensor& t, Tensor&) { d.broadcast(t, 0); },
       [](Comm& d, Tensor& t, Tensor&) { d.reduce(t, 0); }, "collective", "broadcast(", "reduce("},
      {"split and barrier", [](Comm& d, Tensor&, Tensor&) { (void)d.split(0); },
       [](Comm& d, Tensor&, Tensor&) { d.barrier(); }, "collective", "split()", "barrier()"},
      {"root of broadcast", [](Comm& d, Tensor& t, Tensor&) { d.broadcast(t, 0); },
       [](Comm& d, Tensor& t, Tensor&) { d.broadcast(t, 1); }, "root", "root 0", "root 1"},
      {"root of reduce", [](Comm& d, Tensor& t, Tensor&) { d.reduce(t, 1); },
       [](Comm& d, Tensor& t, Tensor&) { d.reduce(t, 0); }, "root", "root 1", "root 0"},
      {"root of gather", [](Comm& d, Tensor& t, Tensor& all_of) { d.gather(t, all_of, 0); },
       [](Comm& d, Tensor& t, Tensor& all_of) { d.gather(t, all_of, 1); }, "root", "root 0",
       "root 1"},
      {"root of scatter", [](Comm& d, Tensor& t, Tensor& all_of) { d.scatter(all_of, t, 0); },
       [](Comm& d, Tensor& t, Tensor& all_of) { d.scatter(all_of, t, 1); }, "root", "root 0",
       "root 1"},
      {"op of reduce", [](Comm& d, Tensor& t, Tensor&) { d.reduce(t, 0, ReduceOp::SUM); },
       [](Comm& d, Tensor& t, Tensor&) { d.reduce(t, 0, ReduceOp::PRODUCT); }, "op", "op SUM",
       "op PRODUCT"},
      {"op of all_reduce", [](Comm& d, Tensor& t, Tensor&) { d.all_reduce(t, ReduceOp::MIN); },
       [](Comm& d, Tensor& t, Tensor&) { d.all_reduce(t, ReduceOp::AVG); }, "op", "op MIN",
       "op AVG"},
      {"size of all_reduce", [](Comm& d, Tensor& t, Tensor&) { d.all_reduce(t); },
       [](Comm& d, Tensor& t, Tensor&) { d.all_reduce(chunk(t, 0, 2)); }, "size", "4 float32",
       "2 float32"},
      {"size of broadcast", [](Comm& d, Tensor& t, Tensor&) { d.broadcast(t, 0); },
       [](Comm& d, Tensor& t, Tensor&) { d.broadcast(Slice(t).sub(0, 0), 0); }, "size", "4 float32",
       "0 float32"},
      {"dtype of all_reduce", [](Comm& d, Tensor& t, Tensor&) { d.all_reduce(t); }, doubles,
       "dtype", "4 float32", "4 float64"},
      {"root, op and size at once",
       [](Comm& d, Tensor& t, Tensor&) { d.reduce(t, 0, ReduceOp::MAX); },
       [](Comm& d, Tensor& t, Tensor&) { d.reduce(chunk(t, 0, 4), 1, ReduceOp::MIN); },
       "root, op, size", "root 0, op MAX, 4 float32", "root 1, op MIN, 1 float32"},
      {"asynchronous and of another op",
       [](Comm& d, Tensor& t, Tensor&) { d.wait(d.all_reduce_async(t)); },
       [](Comm& d, Tensor& t, Tensor&) { d.wait(d.all_reduce_async(t, ReduceOp::MAX)); }, "op",
       "op SUM", "op MAX"},
  };
  return all;
}

TEST_CASE("ranks that call different collectives, or the same with different arguments") {
  for (const Disagreement& row : disagreements()) {
    if (!wants_row(row.name)) continue;
    for (int world_size : {2, 3, 5}) {
      for (int odd = 0; odd < world_size; odd += 2) {
        const std::string name = row.name;
        CAPTURE(name);
        CAPTURE(world_size);
        CAPTURE(odd);
        std::vector<int> touched(static_cast<std::size_t>(world_size), 0);
        const Observation seen = observe(
            {.world_size = world_size, .seed = static_cast<std::uint64_t>(odd)}, [&](Comm& dist) {
              Tensor tensor = full(4, 3.0f);
              Tensor gathered = full(4 * world_size, 5.0f);
              try {
                (dist.rank() == odd ? row.other : row.most)(dist, tensor, gathered);
              } catch (...) {
                touched[static_cast<std::size_t>(dist.rank())] =
                    to_host(tensor) != to_host(full(4, 3.0f)) ||
                    to_host(gathered) != to_host(full(4 * world_size, 5.0f));
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
        // A rank that arrived in time gets the mismatch; one that arrived after the stop gets
        // Aborted.
        CHECK(ended_as<CollectiveMismatch>(seen, odd));
        for (int rank = 0; rank < world_size; ++rank) {
          CHECK((ended_as<CollectiveMismatch>(seen, rank) || ended_as<Aborted>(seen, rank)));
          CHECK_FALSE(touched[static_cast<std::size_t>(rank)]);
        }
      }
    }
  }
}

TEST_CASE("within a group a mismatch names ranks of the world") {
  const Observation seen = observe({.world_size = 4}, [](Comm& dist) {
    Comm half = dist.split(dist.rank() % 2);
    Tensor tensor = zeros(1);
    half.broadcast(tensor, dist.rank() == 3 ? 1 : 0);
  });
  const auto error = require_error<CollectiveMismatch>(seen);
  for (const char* value : {"rank 1", "root 1", "rank 3", "root 3"})
    CHECK(contains(error.what(), value));
}

TEST_CASE("one barrier too few, then a collective: the ranks disagree") {
  const Observation seen = observe({.world_size = 3}, [](Comm& dist) {
    Tensor tensor = zeros(1);
    if (dist.rank() != 1) dist.barrier();
    dist.all_reduce(tensor);
  });
  const auto error = require_error<CollectiveMismatch>(seen);
  for (const char* value : {"rank 1", "all_reduce(", "barrier()"})
    CHECK(contains(error.what(), value));
}

TEST_CASE("a mismatch that both sides swallow still fails the run") {
  const Observation message = observe({.world_size = 2}, [](Comm& dist) {
    Tensor tensor = zeros(dist.rank() + 1);
    try {
      if (dist.rank() == 0) dist.send(tensor, 1);
      if (dist.rank() == 1) dist.recv(tensor, 0);
    } catch (const MessageMismatch&) {
    }
  });
  CHECK(ended_as<MessageMismatch>(message));
  const Observation collective = observe({.world_size = 3}, [](Comm& dist) {
    Tensor tensor = zeros(1);
    try {
      dist.broadcast(tensor, dist.rank() == 0 ? 1 : 0);
    } catch (const CollectiveMismatch&) {
    }
  });
  CHECK(ended_as<CollectiveMismatch>(collective));
}

}  // namespace
}  // namespace rankbox::testing
