// Rendezvous and all-gathers of forked processes: correct, incorrect and foreign ones.
#include "gpu/launch/process_group.h"

#include <csignal>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu/launch/test_processes.h"

namespace rankbox::launcher {
namespace {

constexpr double kPatient = 120;  // seconds: no test waits this long
constexpr double kShort = 2;      // passes in a test, after the event that it must outlast

RankVariables rank_of(int rank, int world_size, const std::string& job = "") {
  RankVariables who;
  who.rank = rank;
  who.world_size = world_size;
  who.launcher = "the test";
  who.job = job;
  return who;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string bytes_of_rank(int rank, std::size_t size) {
  return std::string(size, static_cast<char>('a' + rank));
}

/// Returns "[a][][cc]", or in_words() of the problem.
std::string gather(ProcessGroup& group, const std::string& mine, double seconds = kPatient) {
  const auto all = group.all_gather(mine, seconds);
  if (all.problem) return in_words(all.problem);
  std::string text;
  for (const auto& bytes : all.bytes) text += "[" + bytes.value() + "]";
  return text;
}

/// Joins, and gathers the ranks' numbers.
std::string join(const RankVariables& who, const Endpoint& endpoint, double seconds = kPatient) {
  ProcessGroup group(who, endpoint, seconds);
  return gather(group, std::to_string(group.rank()));
}

TEST_CASE("all-gathers return the bytes of every rank in order, for 1 to 8 processes") {
  for (const int world_size : {1, 2, 3, 8}) {
    CAPTURE(world_size);
    const ReservedPort port;
    const auto outcomes = run_processes(world_size, [&](int rank) -> std::string {
      ProcessGroup group(rank_of(rank, world_size), port.endpoint(), kPatient);
      for (const std::size_t size : {0, 1, 2, 3, 128, 1 << 20}) {
        const std::size_t i = static_cast<std::size_t>(rank);
        const auto all = group.all_gather(bytes_of_rank(rank, size * i), kPatient);
        if (all.problem) return in_words(all.problem);
        if (static_cast<int>(all.bytes.size()) != world_size) return "wrong world size";
        for (int r = 0; r < world_size; ++r) {
          const auto j = static_cast<std::size_t>(r);
          if (all.bytes[j] != bytes_of_rank(r, size * j))
            return fmt::format("wrong bytes of {}", r);
        }
      }
      return "right";
    });
    for (const Outcome& outcome : outcomes) CHECK(outcome.text == "right");
  }
}

TEST_CASE("ranks may start in any order") {
  for (const int last : {0, 2}) {
    const ReservedPort port;
    const SharedFlag others_run;
    const auto outcomes = run_processes(3, [&](int rank) {
      rank == last ? others_run.wait() : others_run.set();
      return join(rank_of(rank, 3), port.endpoint());
    });
    for (const Outcome& outcome : outcomes) CHECK(outcome.text == "[0][1][2]");
  }
}

TEST_CASE("an IPv6 address, a name and every interface are addresses of rank 0") {
  for (const std::string address : {"::1", "localhost", "0.0.0.0"}) {
    CAPTURE(address);
    const ReservedPort port;
    if (address == "::1") {
      try {
        listen_at({"::1", port.number(), ""});
      } catch (const std::exception& error) {
        MESSAGE("no IPv6 on this machine: " << error.what());
        continue;
      }
    }
    const auto outcomes = run_processes(2, [&](int rank) {
      return join(rank_of(rank, 2), {address, port.number(), "the test"});
    });
    for (const Outcome& outcome : outcomes) CHECK(outcome.text == "[0][1]");
  }
}

TEST_CASE("another job may use the port once all ranks have connected") {
  const ReservedPort port;
  const auto outcomes = run_processes(2, [&](int rank) {
    ProcessGroup group(rank_of(rank, 2, "parents"), port.endpoint(), kPatient);
    const std::string children = join(rank_of(rank, 2, "children"), port.endpoint());
    return children + gather(group, "parent");
  });
  for (const Outcome& outcome : outcomes) CHECK(outcome.text == "[0][1][parent][parent]");
}

// ---- Rendezvous that fail ----------------------------------------------------------------------

TEST_CASE("a rank 0 that does not listen is named with its endpoint and the variables") {
  const ReservedPort port;
  const auto outcomes =
      run_processes(1, [&](int) { return join(rank_of(1, 2), port.endpoint(), 0.6); });
  const std::string& text = outcomes[0].text;
  CAPTURE(text);
  CHECK(contains(text, "Error of rank 1: "));
  for (const std::string& part :
       {to_string(port.endpoint()), std::string("the test"), std::string("MASTER_ADDR"),
        std::string("RANKBOX_PORT"), std::string("Connection refused")}) {
    CHECK(contains(text, part));
  }
  CHECK(!contains(text, "\n"));
}

TEST_CASE("a name that cannot be resolved is in the error") {
  const auto outcomes = run_processes(1, [&](int) {
    return join(rank_of(1, 2), {"no-such-host.invalid", 1, "the test"}, 0.3);
  });
  CAPTURE(outcomes[0].text);
  CHECK(contains(outcomes[0].text, "'no-such-host.invalid'"));
}

TEST_CASE("a port that is taken is an error of rank 0 at once") {
  const ReservedPort port;
  const Fd taken = listen_at(port.endpoint());
  for (const std::string address : {"127.0.0.1", "localhost", "0.0.0.0"}) {
    CAPTURE(address);
    std::string text;
    try {
      join(rank_of(0, 2), {address, port.number(), "the test"});
    } catch (...) {
      text = in_words(std::current_exception());
    }
    CAPTURE(text);
    CHECK(contains(text, "Error of rank 0: "));
    CHECK(contains(text, to_string({address, port.number(), ""})));
    CHECK(contains(text, "RANKBOX_PORT"));
  }
}

TEST_CASE("ranks that do not connect in time are named to those that did") {
  const ReservedPort port;
  const SharedFlag rank_2_runs;
  const auto outcomes = run_processes(2, [&](int index) {
    if (index == 0) rank_2_runs.wait();
    rank_2_runs.set();
    return join(rank_of(index * 2, 5), port.endpoint(), index == 0 ? kShort : kPatient);
  });
  for (const Outcome& outcome : outcomes) {
    CAPTURE(outcome.text);
    CHECK(contains(outcome.text, "Error of rank 0: ranks 1, 3, 4 of 5 "));
    CHECK(contains(outcome.text, to_string(port.endpoint())));
  }
}

TEST_CASE("processes that contradict each other are both named, on both") {
  struct Row {
    std::string what;
    std::vector<RankVariables> processes;  // rank 0 first
    int blamed;
    std::string fix;
  };
  const std::vector<Row> rows = {
      {"another world size", {rank_of(0, 3), rank_of(2, 4)}, 2, "WORLD_SIZE"},
      {"a rank that is taken", {rank_of(0, 3), rank_of(1, 3), rank_of(1, 3)}, 1, "RANK"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    const ReservedPort port;
    std::vector<pid_t> pids;
    const auto outcomes = run_processes(
        static_cast<int>(row.processes.size()),
        [&](int i) { return join(row.processes[static_cast<std::size_t>(i)], port.endpoint()); },
        [&](const std::vector<pid_t>& all) { pids = all; });
    for (const Outcome& outcome : outcomes) {
      CAPTURE(outcome.text);
      CHECK(contains(outcome.text, fmt::format("InvalidArgument of rank {}: ", row.blamed)));
      CHECK(contains(outcome.text, row.fix));
      CHECK(contains(outcome.text, fmt::format("pid {} on ", pids.back())));
    }
  }
}

TEST_CASE("a process of another job is refused, and the job goes on") {
  const ReservedPort port;
  const SharedFlag refused;
  const auto outcomes = run_processes(3, [&](int index) -> std::string {
    if (index < 2) {
      if (index == 1) refused.wait();
      return join(rank_of(index, 2, "a"), port.endpoint());
    }
    std::string text;
    try {
      join(rank_of(1, 2, "b"), port.endpoint());
    } catch (...) {
      text = in_words(std::current_exception());
    }
    refused.set();
    return text;
  });
  CHECK(outcomes[0].text == "[0][1]");
  CHECK(outcomes[1].text == "[0][1]");
  CAPTURE(outcomes[2].text);
  for (const char* part : {"InvalidArgument of rank 1: ", "'a'", "'b'", "RANKBOX_PORT"}) {
    CHECK(contains(outcomes[2].text, part));
  }
}

TEST_CASE("strangers at the port are ignored") {
  const std::string magic = "RANKBOX2";
  const std::vector<std::string> sayings = {
      "",
      magic,
      magic.substr(0, 4),
      "GET / HTTP/1.1\r\n\r\n",
      std::string(100000, '\0'),
      magic + std::string(16, '\xff'),                             // a message size over the limit
      magic + std::string("\3\0\0\0\0\0\0\0", 8) + "12345678abc",  // a handshake that is too short
  };
  const ReservedPort port;
  const SharedFlag strangers_came;
  std::vector<Fd> strangers;
  const auto outcomes = run_processes(
      2,
      [&](int rank) {
        if (rank == 1) strangers_came.wait();
        return join(rank_of(rank, 2), port.endpoint());
      },
      [&](const std::vector<pid_t>&) {
        for (const std::string& saying : sayings) {
          REQUIRE(comes_true([&] {
            try {
              strangers.push_back(connect_to(port.endpoint(), deadline_after(kPatient)));
              return true;
            } catch (const Disconnected&) {
              return false;
            }
          }));
          send(strangers.back().get(), saying.data(), saying.size(), MSG_NOSIGNAL);
        }
        strangers_came.set();
      });
  for (const Outcome& outcome : outcomes) CHECK(outcome.text == "[0][1]");
}

TEST_CASE("another program that listens at the endpoint is not taken for rank 0") {
  for (const std::string saying : {"SSH-2.0-OpenSSH_9.2\r\n", ""}) {
    CAPTURE(saying);
    const ReservedPort port;
    const Fd listener = listen_at(port.endpoint());
    std::vector<Fd> accepted;
    const auto outcomes = run_processes(
        1, [&](int) { return join(rank_of(1, 2), port.endpoint(), 0.5); },
        [&](const std::vector<pid_t>& pids) {
          comes_true([&] {
            for (Fd next = accept_from(listener); next.is_open(); next = accept_from(listener)) {
              send(next.get(), saying.data(), saying.size(), MSG_NOSIGNAL);
              accepted.push_back(std::move(next));
            }
            siginfo_t ended = {};
            waitid(P_PID, static_cast<id_t>(pids[0]), &ended, WEXITED | WNOHANG | WNOWAIT);
            return ended.si_pid != 0;
          });
        });
    CAPTURE(outcomes[0].text);
    CHECK(contains(outcomes[0].text, "Error of rank 1: "));
    CHECK(contains(outcomes[0].text, to_string(port.endpoint())));
  }
}

// ---- All-gathers that fail ---------------------------------------------------------------------

TEST_CASE("a process that is killed is named at once to all others, then and ever after") {
  for (const int victim : {0, 1}) {
    CAPTURE(victim);
    const ReservedPort port;
    const auto outcomes = run_processes(4, [&](int rank) -> std::string {
      ProcessGroup group(rank_of(rank, 4), port.endpoint(), kPatient);
      if (rank == victim) kill(getpid(), SIGKILL);
      const std::string first = gather(group, "bytes");
      return gather(group, "more") == first ? first : "another error";
    });
    for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
      CAPTURE(outcomes[rank].text);
      CHECK((static_cast<int>(rank) == victim ||
             contains(outcomes[rank].text, fmt::format("RankFailed of rank {}: ", victim))));
    }
  }
}

TEST_CASE("a rank that is late for an all-gather is named in every rank's error") {
  for (const int late : {0, 2}) {
    CAPTURE(late);
    const int world_size = late == 0 ? 2 : 3;
    const ReservedPort port;
    const SharedFlag over;
    const auto outcomes = run_processes(world_size, [&](int rank) {
      ProcessGroup group(rank_of(rank, world_size), port.endpoint(), kPatient);
      gather(group, "all are there");
      if (rank == late) over.wait();
      const std::string text = gather(group, "bytes", kShort);
      if (rank != late) over.set();
      return text;
    });
    for (int rank = 0; rank < world_size; ++rank) {
      if (rank == 0 && late == 0) continue;  // it has the bytes that the other sent
      const std::string& text = outcomes[static_cast<std::size_t>(rank)].text;
      CAPTURE(text);
      CHECK(contains(text, fmt::format("RankFailed of rank {}: ", late)));
    }
  }
}

TEST_CASE("the least patient rank limits the wait of all") {
  const ReservedPort port;
  const SharedFlag over;
  const auto outcomes = run_processes(3, [&](int rank) {
    ProcessGroup group(rank_of(rank, 3), port.endpoint(), kPatient);
    gather(group, "all are there");
    if (rank == 2) over.wait();
    const std::string text = gather(group, "bytes", rank == 1 ? kShort : 1e9);
    over.set();
    return text;
  });
  for (const Outcome& outcome : outcomes) {
    CAPTURE(outcome.text);
    CHECK(contains(outcome.text, "RankFailed of rank 2: "));
  }
}

TEST_CASE("too many bytes are an error on all ranks, of one rank or together") {
  for (const bool together : {false, true}) {
    CAPTURE(together);
    const ReservedPort port;
    const auto outcomes = run_processes(2, [&](int rank) {
      ProcessGroup group(rank_of(rank, 2), port.endpoint(), kPatient);
      const std::size_t size = together ? kMaxBytes / 2 + 1 : rank == 1 ? kMaxBytes + 1 : 1;
      return gather(group, std::string(size, 'x'));
    });
    for (const Outcome& outcome : outcomes) {
      CAPTURE(outcome.text);
      CHECK(contains(outcome.text, "InvalidArgument"));
      CHECK(contains(outcome.text, " 64 MiB "));
    }
  }
}

}  // namespace
}  // namespace rankbox::launcher
