// A star of real processes, when all goes well.
#include "launch/star.h"

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <sys/socket.h>

#include "comm/errors.h"
#include "launch/reserved_port.h"
#include "launch/socket_address.h"
#include "launch/test_processes.h"

namespace rankbox::launcher {
namespace {

StarOptions options_of(int rank, int world_size, const ReservedPort& port) {
  StarOptions options;
  options.rank = rank;
  options.world_size = world_size;
  options.at = {"127.0.0.1", port.number(), "the test"};
  return options;
}

/// "rank 2 of 5" times so many letters.
std::string bytes_of_rank(int rank, std::size_t size) {
  return std::string(size, static_cast<char>('a' + rank));
}

TEST_CASE("every collective brings what it should, for 1 to 8 processes") {
  for (const int world_size : {1, 2, 3, 4, 5, 8}) {
    CAPTURE(world_size);
    const ReservedPort port;
    const auto outcomes = run_processes(world_size, [&](int rank) -> std::string {
      Star star(options_of(rank, world_size, port));
      for (const std::size_t size : {0, 1, 128, 100000}) {
        const std::string id(size, '\x7f');
        if (star.broadcast_bytes(rank == 0 ? id : "ignored") != id) return "broadcast";

        const std::string mine = bytes_of_rank(rank, size + static_cast<std::size_t>(rank));
        const auto all = star.all_gather_bytes(mine);
        const auto at_root = star.gather_bytes(mine);
        if (static_cast<int>(all.size()) != world_size) return "all_gather";
        if (rank == 0 ? at_root != all : !at_root.empty()) return "gather";
        for (int r = 0; r < world_size; ++r) {
          const auto i = static_cast<std::size_t>(r);
          if (all[i] != bytes_of_rank(r, size + i)) return "all_gather of " + std::to_string(r);
        }
      }
      star.barrier();
      return star.stopped() ? "stopped" : "fine";
    });
    for (const Outcome& outcome : outcomes) {
      CHECK(outcome.status == 0);
      CHECK(outcome.text == "fine");
    }
  }
}

TEST_CASE("a barrier lets nobody go on before everybody has come") {
  constexpr int kWorldSize = 4;
  constexpr int kRounds = 50;
  const ReservedPort port;
  const Shared<int> came(0);  // in all rounds
  const auto outcomes = run_processes(kWorldSize, [&](int rank) -> std::string {
    Star star(options_of(rank, kWorldSize, port));
    for (int round = 1; round <= kRounds; ++round) {
      if (rank == round % kWorldSize) sleep_for(0.005);
      ++*came;
      star.barrier();
      if (*came < round * kWorldSize) return "went on too early";
    }
    return "fine";
  });
  for (const Outcome& outcome : outcomes) CHECK(outcome.text == "fine");
}

TEST_CASE("many short operations in a row keep their order") {
  constexpr int kWorldSize = 3;
  const ReservedPort port;
  const auto outcomes = run_processes(kWorldSize, [&](int rank) -> std::string {
    Star star(options_of(rank, kWorldSize, port));
    for (int i = 0; i < 500; ++i) {
      const std::string number = std::to_string(i);
      if (i % 3 == 0) star.barrier();
      if (star.broadcast_bytes(number) != number) return "wrong at " + number;
      for (const std::string& each : star.all_gather_bytes(number)) {
        if (each != number) return "wrong at " + number;
      }
    }
    return "fine";
  });
  for (const Outcome& outcome : outcomes) CHECK(outcome.text == "fine");
}

TEST_CASE("a megabyte passes, and what is too long is refused on the rank that passes it") {
  constexpr int kWorldSize = 3;
  const ReservedPort port;
  const auto outcomes = run_processes(kWorldSize, [&](int rank) -> std::string {
    Star star(options_of(rank, kWorldSize, port));
    const std::string large(std::size_t{1} << 20, 'x');
    if (star.broadcast_bytes(large) != large) return "broadcast";
    if (star.all_gather_bytes(large).back() != large) return "all_gather";
    try {
      star.gather_bytes(std::string((std::size_t{32} << 20) + 1, 'x'));
      return "was not refused";
    } catch (const InvalidArgument&) {  // nothing has been sent
    }
    star.barrier();
    return "fine";
  });
  for (const Outcome& outcome : outcomes) CHECK(outcome.text == "fine");
}

#if defined(__SANITIZE_THREAD__)
constexpr bool kTooSlow = true;  // it watches every byte
#else
constexpr bool kTooSlow = false;
#endif

TEST_CASE("what is too long together is told to all" * doctest::skip(kTooSlow)) {
  const ReservedPort port;
  const auto outcomes = run_processes(2, [&](int rank) -> std::string {
    Star star(options_of(rank, 2, port));
    star.all_gather_bytes(std::string(std::size_t{32} << 20, 'x'));
    return "was not refused";
  });
  for (const Outcome& outcome : outcomes) {
    CAPTURE(outcome.text);
    CHECK(outcome.text.find("together are more than 64 MiB") != std::string::npos);
  }
}

TEST_CASE("ranks may start in any order, and rank 0 last") {
  for (const int late : {0, 2}) {
    const ReservedPort port;
    const auto outcomes = run_processes(3, [&](int rank) {
      if (rank == late) sleep_for(0.7);
      Star star(options_of(rank, 3, port));
      return star.all_gather_bytes(std::to_string(rank)).at(2);
    });
    for (const Outcome& outcome : outcomes) CHECK(outcome.text == "2");
  }
}

TEST_CASE("IPv6, names, and an address that is everybody's are fine to meet at") {
  for (const std::string address : {"::1", "localhost", "0.0.0.0"}) {
    CAPTURE(address);
    if (address == "::1") {
      const Fd probe(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
      SocketAddress loopback = resolve(address, 0).addresses.at(0);
      if (!probe.is_open() || bind(probe.get(), loopback.get(), loopback.size) != 0) {
        MESSAGE("no IPv6 on this machine: not tested");
        continue;
      }
    }
    const ReservedPort port;
    const auto outcomes = run_processes(2, [&](int rank) {
      StarOptions options = options_of(rank, 2, port);
      options.at.address = address;
      Star star(options);
      return star.broadcast_bytes("id");
    });
    for (const Outcome& outcome : outcomes) CHECK(outcome.text == "id");
  }
}

TEST_CASE("one thread may look for failures while another one is in a collective") {
  const ReservedPort port;
  const auto outcomes = run_processes(2, [&](int rank) -> std::string {
    Star star(options_of(rank, 2, port));
    std::atomic<bool> over = false;
    std::thread watcher([&] {
      while (!over) {
        if (star.stopped() || star.first_failure()) return;
      }
    });
    std::string last;
    for (int i = 0; i < 20; ++i) last = star.broadcast_bytes(std::to_string(i));
    star.barrier();
    over = true;
    watcher.join();
    return last;
  });
  for (const Outcome& outcome : outcomes) CHECK(outcome.text == "19");
}

TEST_CASE("ranks that leave after a barrier leave nothing to complain of, whoever goes first") {
  for (const int first : {0, 1, 2}) {
    const ReservedPort port;
    const auto outcomes = run_processes(3, [&](int rank) -> std::string {
      Star star(options_of(rank, 3, port));
      star.barrier();
      if (rank != first) sleep_for(0.4);
      return star.stopped() ? star.first_failure()->reason : "fine";
    });
    for (const Outcome& outcome : outcomes) CHECK(outcome.text == "fine");
    // Going first costs a moment, not the time the others take.
    CHECK(outcomes[static_cast<std::size_t>(first)].seconds < 5);
  }
}

TEST_CASE("what makes no sense is refused before anybody is called") {
  const ReservedPort port;
  for (const auto& [rank, world_size] : {std::pair{-1, 2}, {2, 2}, {0, 0}}) {
    CHECK_THROWS_AS(Star(options_of(rank, world_size, port)), InvalidArgument);
  }
  for (const double seconds : {0.0, -1.0, 1e9}) {
    StarOptions options = options_of(0, 1, port);
    options.seconds = seconds;
    CHECK_THROWS_AS(Star{options}, InvalidArgument);
  }
  StarOptions named = options_of(0, 1, port);
  named.job = std::string(5000, 'j');
  CHECK_THROWS_AS(Star{named}, InvalidArgument);
}

}  // namespace
}  // namespace rankbox::launcher
