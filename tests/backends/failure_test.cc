// A rank that fails stops the world, in whatever state the others are. The run reports its failure,
// in every process.
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "collectives/topology.h"
#include "comm/run_ranks.h"
#include "tests/backends/worlds.h"
#include "tests/support/run_tests.h"

namespace rankbox::testing {
namespace {

/// Fails after this many seconds: the other ranks are spinning or parked by then.
[[noreturn]] void fail_after(double seconds) {
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() <
         seconds) {
  }
  throw NotImplemented("allreduce_ring");
}

/// A way to wait for rank 0, which fails instead.
struct Wait {
  const char* name;
  std::function<void(Comm&)> body;
};

const std::vector<Wait>& waits() {
  static const std::vector<Wait> all = {
      {"recv", [](Comm& d) { d.recv(zeros(3), 0); }},
      {"send", [](Comm& d) { d.send(zeros(3), 0); }},
      {"large send", [](Comm& d) { d.send(zeros(500'000), 0); }},
      {"sendrecv",
       [](Comm& d) {
         Tensor in = zeros(9);
         d.sendrecv(zeros(9), 0, in, 0);
       }},
      {"wait for irecv",
       [](Comm& d) {
         Tensor in = zeros(9);
         d.wait(d.irecv(in, 0));
       }},
      {"wait for a large isend",
       [](Comm& d) {
         const Tensor out = zeros(500'000);
         d.wait(d.isend(out, 0));
       }},
      {"wait_all",
       [](Comm& d) {
         Tensor in = zeros(9);
         Tensor later = zeros(9);
         const Tensor out = zeros(9);
         d.wait_all({d.irecv(in, 0), d.isend(out, 0), d.irecv(later, 0)});
       }},
      {"barrier", [](Comm& d) { d.barrier(); }},
      {"all_reduce", [](Comm& d) { d.all_reduce(zeros(100'000)); }},
      {"broadcast", [](Comm& d) { d.broadcast(zeros(3), 0); }},
      {"wait for all_reduce_async",
       [](Comm& d) {
         Tensor t = zeros(50'000);
         d.wait(d.all_reduce_async(t));
       }},
      {"split", [](Comm& d) { (void)d.split(d.rank() % 2); }},
      {"recv, with a collective under way",
       [](Comm& d) {
         Tensor t = zeros(50'000);
         const Request request = d.all_reduce_async(t);
         d.recv(zeros(3), 0);
         d.wait(request);
       }},
  };
  return all;
}

TEST_CASE("the first cause is rethrown, with its rank, whatever the others wait in") {
  for (const Wait& wait : waits()) {
    if (!wants_row(wait.name)) continue;
    for (int p : world_sizes(2)) {
      for (double late : {0.0, 0.01}) {
        const std::string name = wait.name;
        CAPTURE(name);
        CAPTURE(p);
        const Observation seen = observe(world(p), [&](Comm& dist) {
          if (dist.rank() == 0) fail_after(late);
          wait.body(dist);
        });
        const auto error = require_error<NotImplemented>(seen);
        CHECK(error.rank() == 0);
        CHECK(error.op() == "allreduce_ring");
        CHECK(is_file(error.file(), "failure_test.cc"));
        for (int rank = 1; rank < p; ++rank) {
          const auto aborted = require_error<Aborted>(seen, rank);
          CHECK(aborted.rank() == rank);
          CHECK(contains(aborted.what(), place_of(error)));  // the cause
        }
      }
    }
  }
}

TEST_CASE("the ranks wait in different calls, and for each other; any one may fail") {
  for (int p : world_sizes(2)) {
    for (int failing = 0; failing < p; ++failing) {
      CAPTURE(p);
      CAPTURE(failing);
      const Observation seen = observe(world(p), [&](Comm& dist) {
        if (dist.rank() == failing) fail_after(0.002 * (failing % 3));
        Tensor in = zeros(20'000);
        const Tensor out = zeros(20'000);
        switch (dist.rank() % 4) {
          case 0:
            return dist.recv(in, failing);
          case 1:
            return dist.sendrecv(out, next_rank(dist.rank(), p), in, failing);
          case 2:
            return dist.wait_all(
                {dist.irecv(in, prev_rank(dist.rank(), p)), dist.isend(out, failing)});
          default:
            return dist.barrier();
        }
      });
      CHECK(require_error<NotImplemented>(seen).rank() == failing);
      for (int rank = 0; rank < p; ++rank)
        if (rank != failing) CHECK(ended_as<Aborted>(seen, rank));
    }
  }
}

TEST_CASE("ranks that are busy with each other hear of it, too") {
  // They never wait for long, so none would have to check.
  for (int p : world_sizes(3)) {
    const Observation seen = observe(world(p), [](Comm& dist) {
      if (dist.rank() == 2) fail_after(0.05);
      if (dist.rank() > 2) return;
      Tensor tensor = zeros(1);
      while (true) {
        Tensor in = zeros(1);
        dist.sendrecv(tensor, 1 - dist.rank(), in, 1 - dist.rank());
      }
    });
    CHECK(require_error<NotImplemented>(seen).rank() == 2);
    CHECK(ended_as<Aborted>(seen, 0));
    CHECK(ended_as<Aborted>(seen, 1));
  }
}

TEST_CASE("a std::exception comes as RankFailed, which names the rank and what it said") {
  for (int p : world_sizes()) {
    const Observation seen = observe(world(p), [&](Comm& dist) {
      if (dist.rank() == p - 1) throw std::out_of_range("index 7 of 5");
      dist.barrier();
    });
    const auto error = require_error<RankFailed>(seen);
    CHECK(error.rank() == p - 1);
    CHECK(contains(error.what(), "rank " + std::to_string(p - 1)));
    CHECK(contains(error.what(), "std::out_of_range: index 7 of 5"));
  }
}

TEST_CASE("what is not even a std::exception is reported all the same") {
  for (int p : world_sizes()) {
    const Observation seen = observe(world(p), [](Comm& dist) {
      if (dist.rank() == 0) throw 42;
      dist.barrier();
    });
    const auto error = require_error<RankFailed>(seen);
    CHECK(error.rank() == 0);
    CHECK(contains(error.what(), "threw int,"));
  }
}

TEST_CASE("an error that already names its rank keeps it") {
  for (int p : world_sizes()) {
    const Observation seen = observe(world(p), [&](Comm& dist) {
      if (dist.rank() == p - 1) throw Error("my own", {70, "op", 8, "f.cc", 9});
    });
    CHECK(require_error<Error>(seen).rank() == 70);
  }
}

TEST_CASE("an invalid argument stops the others as any failure does") {
  for (int p : world_sizes(2)) {
    const Observation seen = observe(world(p), [&](Comm& dist) {
      if (dist.rank() == 1) dist.send(zeros(1), p);
      dist.barrier();
    });
    CHECK(require_error<InvalidArgument>(seen).rank() == 1);
    for (int rank = 0; rank < p; ++rank)
      if (rank != 1) CHECK(ended_as<Aborted>(seen, rank));
  }
}

TEST_CASE("a rank that swallows being aborted does not hide the cause") {
  for (int p : world_sizes(2)) {
    const Observation seen = observe(world(p), [](Comm& dist, std::string& note) {
      if (dist.rank() == 0) throw std::runtime_error("the cause");
      for (int attempt = 0; attempt < 5; ++attempt) {
        try {
          dist.barrier();
        } catch (const Aborted&) {
        }
      }
      note = "came to its end";
    });
    CHECK(require_error<RankFailed>(seen).rank() == 0);
    CHECK(seen.notes[1] == "came to its end");
  }
}

TEST_CASE("nothing can be done in a stopped world: every call is aborted") {
  for (int p : world_sizes(2)) {
    RunOptions options = world(p);
    options.buffering = Buffering::unbounded();  // no send would have to wait
    const Observation seen = observe(options, [](Comm& dist, std::string& note) {
      if (dist.rank() == 0) throw std::runtime_error("the cause");
      int aborted = 0;
      const auto attempt = [&](auto call) {
        try {
          call();
        } catch (const Aborted&) {
          ++aborted;
        }
      };
      Tensor tensor = zeros(2);
      Tensor gathered = zeros(2 * dist.world_size());
      attempt([&] { dist.barrier(); });
      attempt([&] { dist.send(tensor, 0); });
      attempt([&] { dist.recv(tensor, 0); });
      attempt([&] { dist.sendrecv(tensor, 0, gathered, 0); });
      attempt([&] { dist.wait(dist.isend(tensor, 0)); });
      attempt([&] { dist.wait(dist.irecv(tensor, 0)); });
      attempt([&] { dist.all_gather(tensor, gathered); });
      attempt([&] { dist.wait(dist.all_reduce_async(tensor)); });
      attempt([&] { (void)dist.split(0); });
      note = std::to_string(aborted);
    });
    CHECK(ended_as<RankFailed>(seen));
    for (int rank = 1; rank < p; ++rank) CHECK(seen.notes[static_cast<std::size_t>(rank)] == "9");
  }
}

TEST_CASE("where several ranks fail, the run reports one of them, and never an Aborted") {
  for (int p : world_sizes(2)) {
    for (std::uint64_t round = 0; round < 5; ++round) {
      RunOptions options = world(p);
      options.seed = round;
      const Observation seen = observe(options, [](Comm& dist) {
        Tensor tensor = zeros(1);
        if (dist.rank() % 2 == 1) throw std::runtime_error("failed");
        dist.recv(tensor, dist.rank() + 1 < dist.world_size() ? dist.rank() + 1 : 1);
      });
      CHECK(require_error<RankFailed>(seen).rank() % 2 == 1);
    }
  }
}

TEST_CASE("requests that are open when a rank fails are taken back: no write to freed memory") {
  for (int p : world_sizes(2)) {
    for (std::uint64_t round = 0; round < 5; ++round) {
      RunOptions options = world(p);
      options.seed = round;
      const Observation seen = observe(options, [&](Comm& dist) {
        Tensor in = zeros(1000);
        Tensor large_in = zeros(200'000);
        Tensor large_out = zeros(200'000);
        Tensor out = zeros(1000);
        Tensor sum = zeros(20'000);
        const int next = next_rank(dist.rank(), p);
        const int prev = prev_rank(dist.rank(), p);
        std::vector<Request> requests = {dist.irecv(in, prev), dist.isend(out, next),
                                         dist.all_reduce_async(sum), dist.irecv(large_in, prev)};
        if (dist.rank() != 1) requests.push_back(dist.isend(large_out, next));
        if (dist.rank() == 1) throw std::runtime_error("the cause");
        dist.wait_all(requests);
      });
      CHECK(require_error<RankFailed>(seen).rank() == 1);
    }
  }
}

TEST_CASE("requests kept in a place that outlives the rank's function do no harm") {
  for (int p : world_sizes(2)) {
    std::vector<std::vector<Request>> kept(static_cast<std::size_t>(p));
    std::vector<std::optional<Tensor>> boxes(static_cast<std::size_t>(p));
    const Observation seen = observe(world(p), [&](Comm& dist) {
      const auto me = static_cast<std::size_t>(dist.rank());
      boxes[me] = zeros(100);
      kept[me].push_back(dist.irecv(*boxes[me], next_rank(dist.rank(), p)));
      if (dist.rank() == 1) throw NotImplemented("reduce_tree");
      dist.wait_all(kept[me]);
    });
    CHECK(require_error<NotImplemented>(seen).rank() == 1);
  }
}

TEST_CASE("a failed run leaves a report: what was done until then") {
  for (int p : world_sizes(2)) {
    const Observation seen = observe(world(p), [](Comm& dist) {
      Tensor tensor = zeros(10);
      if (dist.rank() == 0) {
        dist.send(tensor, 1);
        dist.recv(tensor, 1);
      } else if (dist.rank() == 1) {
        dist.recv(tensor, 0);
        static_cast<void>(to_host(tensor));  // ensures that it has arrived
        throw std::runtime_error("enough");
      }
    });
    CHECK(ended_as<RankFailed>(seen));
    CHECK(seen.report.messages == 1);
    CHECK(seen.report.bytes == 40);
    CHECK(seen.report.wall_seconds > 0);
  }
}

TEST_CASE("after a failed run the next one runs as if nothing had been") {
  for (int p : world_sizes(2)) {
    for (int i = 0; i < 10; ++i) {
      const Observation failed = observe(world(p), [&](Comm& dist) {
        Tensor tensor = zeros(i % 3 == 0 ? 100'000 : 1);
        Tensor other = zeros(3);
        Tensor in = zeros(3);
        // Messages of the failed run that no rank ever receives.
        const Request lost = dist.isend(other, next_rank(dist.rank(), p));
        const Request sum = dist.all_reduce_async(tensor);
        if (dist.rank() == p - 1) throw std::runtime_error("the cause");
        for (int twice = 0; twice < 2; ++twice)
          dist.recv(in, p - 1);  // one of which was sent to rank 0
        dist.wait_all({lost, sum});
      });
      CHECK(ended_as<RankFailed>(failed));
      const auto run = run_ranks(world(p), [&](Comm& dist) {
        Tensor sum = full(1, static_cast<float>(dist.rank()));
        dist.all_reduce(sum);
        Tensor in = zeros(3);
        dist.sendrecv(full(3, 8.0f), next_rank(dist.rank(), p), in, prev_rank(dist.rank(), p));
        return to_host(sum)[0] + to_host(in)[2];
      });
      for (float sum : run.results) CHECK(sum == static_cast<float>(p * (p - 1) / 2 + 8));
    }
  }
}

TEST_CASE("one of two groups fails while the other one works, or is being made") {
  for (int p : world_sizes(4)) {
    for (int round = 0; round < 6; ++round) {
      const Observation seen = observe(world(p), [&](Comm& dist) {
        Comm half = dist.split(dist.rank() % 2);
        if (dist.rank() == 1) fail_after(0.001 * round);
        if (dist.rank() % 2 == 1) half.barrier();
        for (int i = 0; i < 1000; ++i) {
          Comm made = half.split(half.rank() % 2);
          made.barrier();
        }
        dist.barrier();
      });
      CHECK(require_error<NotImplemented>(seen).rank() == 1);
    }
  }
}

}  // namespace
}  // namespace rankbox::testing
