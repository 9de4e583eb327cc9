// A star of real processes, when something goes wrong: everybody learns of it, soon, and in the same
// words.
#include <algorithm>
#include <csignal>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "comm/errors.h"
#include "launch/reserved_port.h"
#include "launch/star.h"
#include "launch/test_processes.h"

namespace rankbox::launcher {
namespace {

// Far above what it takes, also on a busy machine, and far below the deadlines of 30 s.
constexpr double kSoon = 8;

StarOptions options_of(int rank, int world_size, const ReservedPort& port, double seconds = 30) {
  StarOptions options;
  options.rank = rank;
  options.world_size = world_size;
  options.at = {"127.0.0.1", port.number(), "the test"};
  options.seconds = seconds;
  return options;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The reason, as this rank was told it.
std::string reason_of(Star& star) {
  const auto failure = star.first_failure();
  return failure ? std::to_string(failure->rank) + ": " + failure->reason : "no failure";
}

/// In a loop as that of a rank that waits for a device.
std::string busy_until_stopped(Star& star) {
  while (!star.stopped()) {
  }
  return reason_of(star);
}

TEST_CASE("a rank that is killed is named to all others at once, whether they wait or work") {
  constexpr int kWorldSize = 4;
  for (const int victim : {0, 1, 3}) {
    for (const bool waiting : {true, false}) {
      CAPTURE(victim);
      CAPTURE(waiting);
      const ReservedPort port;
      const auto outcomes = run_processes(kWorldSize, [&](int rank) -> std::string {
        Star star(options_of(rank, kWorldSize, port));
        star.barrier();
        if (rank == victim) sleep_for(0.1);  // until the others are waiting or at work
        if (rank == victim) kill(getpid(), SIGKILL);
        if (!waiting) return busy_until_stopped(star);
        try {
          star.barrier();
        } catch (const Aborted& error) {
          if (error.peer() != victim || error.rank() != rank) return "wrong rank in the error";
          if (!star.stopped()) return "not stopped";
          return reason_of(star);
        }
        return "went on";
      });
      std::set<std::string> reasons;
      for (int rank = 0; rank < kWorldSize; ++rank) {
        const Outcome& outcome = outcomes[static_cast<std::size_t>(rank)];
        if (rank == victim) continue;
        CHECK(outcome.seconds < kSoon);
        CAPTURE(outcome.text);
        const std::string name = "rank " + std::to_string(victim);
        CHECK(contains(outcome.text, std::to_string(victim) + ": " + name));
        CHECK(contains(outcome.text, "ended without a word"));
        reasons.insert(outcome.text);
      }
      CHECK(reasons.size() == 1);
    }
  }
}

TEST_CASE("a rank that is killed while others are still to come ends the start for all") {
  const ReservedPort port;
  const auto outcomes = run_processes(
      4,
      [&](int rank) -> std::string {
        if (rank == 3) sleep_for(1.5);
        Star star(options_of(rank, 4, port));
        return "started";
      },
      [](const std::vector<pid_t>& pids) {
        sleep_for(1);
        kill(pids[1], SIGKILL);
      });
  for (const int rank : {0, 2, 3}) {
    const Outcome& outcome = outcomes[static_cast<std::size_t>(rank)];
    CAPTURE(outcome.text);
    CHECK(contains(outcome.text, "Aborted: "));
    CHECK(contains(outcome.text, "rank 1 (pid"));
    CHECK(outcome.seconds < kSoon);
  }
}

TEST_CASE("all ranks are told the same first failure, also if several fail at once") {
  for (int repeat = 0; repeat < 10; ++repeat) {
    const ReservedPort port;
    const auto outcomes = run_processes(4, [&](int rank) -> std::string {
      Star star(options_of(rank, 4, port));
      star.barrier();
      if (rank != 3) star.stop("rank " + std::to_string(rank) + " has had enough", rank);
      return busy_until_stopped(star);
    });
    for (const Outcome& outcome : outcomes) {
      CHECK(outcome.text == outcomes.front().text);
      CHECK(contains(outcome.text, "has had enough"));
    }
  }
}

TEST_CASE("rank 0 that stops the world and ends at once has told everybody before") {
  for (int repeat = 0; repeat < 20; ++repeat) {
    const ReservedPort port;
    const auto outcomes = run_processes(3, [&](int rank) -> std::string {
      Star star(options_of(rank, 3, port));
      if (rank == 0) {
        star.stop("rank 0 has no device", 0);
        return reason_of(star);
      }
      try {
        star.barrier();
      } catch (const Aborted&) {
      }
      return reason_of(star);
    });
    for (const Outcome& outcome : outcomes) CHECK(outcome.text == "0: rank 0 has no device");
  }
}

TEST_CASE("an exception that ends a rank's star is told to the others") {
  for (const int thrower : {0, 2}) {
    const ReservedPort port;
    const auto outcomes = run_processes(3, [&](int rank) -> std::string {
      Star star(options_of(rank, 3, port));
      if (rank == thrower) throw std::runtime_error("thrown");
      return busy_until_stopped(star);
    });
    for (int rank = 0; rank < 3; ++rank) {
      const std::string& text = outcomes[static_cast<std::size_t>(rank)].text;
      CAPTURE(text);
      if (rank == thrower) CHECK(text == "exception: thrown");
      if (rank != thrower) {
        CHECK(contains(text, "rank " + std::to_string(thrower) + " (pid"));
        CHECK(contains(text, "ended with an exception"));
      }
    }
  }
}

TEST_CASE("a collective at which ranks do not come in time names them on every rank") {
  struct Case {
    std::vector<int> late;
    std::string named;
  };
  for (const Case& c : {Case{{2}, "rank 2"}, {{1, 3}, "ranks 1 and 3"}, {{0}, "rank 0"}}) {
    const ReservedPort port;
    const auto outcomes = run_processes(4, [&](int rank) -> std::string {
      Star star(options_of(rank, 4, port));
      star.barrier();
      const bool late = std::count(c.late.begin(), c.late.end(), rank) > 0;
      if (late) return busy_until_stopped(star);
      try {
        star.all_gather_bytes("x", 0.5);
      } catch (const Aborted& error) {
        return reason_of(star);
      }
      return "went on";
    });
    for (const Outcome& outcome : outcomes) {
      CAPTURE(outcome.text);
      CHECK(contains(outcome.text, "all_gather_bytes (operation 1 of the star): " + c.named +
                                       " did not come within 0.5 s"));
      CHECK(outcome.seconds < kSoon);
    }
  }
}

TEST_CASE("ranks that call different operations are told who called what") {
  const ReservedPort port;
  const auto outcomes = run_processes(2, [&](int rank) -> std::string {
    Star star(options_of(rank, 2, port));
    if (rank == 0) star.barrier();
    return star.broadcast_bytes("id");
  });
  for (const Outcome& outcome : outcomes) {
    CAPTURE(outcome.text);
    CHECK(contains(outcome.text, "barrier as its number 0"));
    CHECK(contains(outcome.text, "broadcast_bytes as its number 0"));
  }
}

TEST_CASE("a rank that left in good order is named to those who still wait for it") {
  struct Case {
    int leaver;
    double after;  // s; 0: the others come when it has gone
  };
  for (const Case& c : {Case{0, 0}, {1, 0}, {0, 0.4}, {1, 0.4}}) {
    CAPTURE(c.leaver);
    CAPTURE(c.after);
    const ReservedPort port;
    const auto outcomes = run_processes(3, [&](int rank) -> std::string {
      Star star(options_of(rank, 3, port));
      sleep_for(rank == c.leaver ? c.after : 0.2);
      if (rank == c.leaver) return "left";
      star.barrier();
      return "went on";
    });
    for (int rank = 0; rank < 3; ++rank) {
      const Outcome& outcome = outcomes[static_cast<std::size_t>(rank)];
      CAPTURE(outcome.text);
      if (rank == c.leaver) continue;
      CHECK(contains(outcome.text, "rank " + std::to_string(c.leaver)));
      CHECK(contains(outcome.text, "has left"));
      CHECK(contains(outcome.text, "end with a barrier"));
      CHECK(outcome.seconds < kSoon);
    }
  }
}

TEST_CASE("rank 0 that is stopped, not dead, is given up after the deadline and a little more") {
  const ReservedPort port;
  pid_t frozen = 0;
  const auto outcomes = run_processes(
      2,
      [&](int rank) -> std::string {
        Star star(options_of(rank, 2, port));
        star.barrier();
        if (rank == 0) kill(getpid(), SIGSTOP);
        star.barrier(0.5);
        return "went on";
      },
      [&](const std::vector<pid_t>& pids) {
        frozen = pids[0];
        comes_true([&] { return is_dead(pids[1]); });
        kill(frozen, SIGKILL);
      });
  CAPTURE(outcomes[1].text);
  CHECK(contains(outcomes[1].text, "rank 0 does not answer rank 1"));
  CHECK(outcomes[1].seconds > 0.5);
  CHECK(outcomes[1].seconds < 0.5 + 5 + kSoon);
}

}  // namespace
}  // namespace rankbox::launcher
