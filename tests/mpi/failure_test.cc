// A failed run ends with one report of its first cause.
#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "tests/mpi/failing_run.h"
#include "tests/support/run_tests.h"
#include "tests/support/thrown.h"

namespace rankbox::testing {
namespace {

TEST_CASE("nothing happens: exit code 0, and each rank's place") {
  const Ending ending = run(mpirun(3, {"where"}));
  CHECK(ending.exit_code == 0);
  CHECK(ending.output ==
        "rank 0: node 0, local rank 0\nrank 1: node 0, local rank 1\nrank 2: node 0, local rank "
        "2\n");
  CHECK(all_are_gone());
}

TEST_CASE("a rank that catches InvalidArgument goes on") {
  const Ending ending = run(mpirun(2, {"refused"}));
  CHECK(ending.exit_code == 0);
  CHECK(ending.output == "went on\nwent on\n");
}

TEST_CASE("a failed run ends with one report of its first cause, and no process is left") {
  struct Row {
    const char* scenario;
    const char* name;
    int rank;
    const char* op;
    int peer;
    int exit_code = 1;
  };
  constexpr int kAny = -2;  // the ranks are alike
  const Row rows[] = {
      {"throw", "RankFailed", 1, "", -1},
      {"mistake", "InvalidArgument", 1, "", -1, 2},
      {"busy", "RankFailed", 0, "", -1},
      {"shorter_message", "MessageMismatch", 1, "recv", 0},
      {"longer_message", "MessageMismatch", 1, "recv", 0},
      {"empty_message", "MessageMismatch", 1, "recv", 0},
      {"other_dtype", "MessageMismatch", 1, "recv", 0},
      {"shorter_alike", "MessageMismatch", 1, "recv", 0},
      {"longer_alike", "MessageMismatch", 1, "recv", 0},
      {"shorter_buffered_message", "MessageMismatch", 1, "recv", 0},
      {"collective_kind", "CollectiveMismatch", 0, "all_reduce", -1},
      {"collective_root", "CollectiveMismatch", 0, "broadcast", -1},
      {"collective_op", "CollectiveMismatch", 0, "all_reduce", -1},
      {"collective_size", "CollectiveMismatch", 0, "all_reduce", -1},
      {"collective_long_ago", "CollectiveMismatch", 0, "", -1},
      {"split_or_barrier", "CollectiveMismatch", 0, "split", -1},
      {"blocking_kind", "TimedOut", 0, "all_reduce", -1},
      {"blocking_op", "CollectiveMismatch", 0, "all_reduce", -1},
      {"blocking_missing", "TimedOut", 0, "barrier", -1},
      {"missing", "TimedOut", 0, "barrier", -1},
      {"deadlock", "TimedOut", kAny, "recv", kAny},
      {"returned", "TimedOut", 0, "recv", 1},
      {"itself", "TimedOut", 1, "recv", 1},
      {"wait", "TimedOut", 0, "wait", 1},
      {"dropped_request", "UnreceivedMessage", 1, "isend", 0},
      {"kept_request", "UnreceivedMessage", 1, "irecv", 0},
      {"unreceived", "UnreceivedMessage", 1, "send", 0},
      {"freed_send", "BufferReused", 1, "isend", 0},
      {"freed_receive", "BufferReused", 1, "irecv", 0},
      {"overlap", "InvalidArgument", 1, "irecv", -1},
      {"blocking_overlap", "InvalidArgument", 1, "recv", -1},
      {"outside", "InvalidArgument", 1, "chunk", -1},
  };
  for (const Row& row : rows) {
    for (const int processes : {2, 3}) {
      // A run of a third has each row with one of the two, in turn.
      if (runs_a_third() && processes == 2 + (&row - rows + third()) % 2) continue;
      const std::string scenario = row.scenario;
      CAPTURE(scenario);
      CAPTURE(processes);
      const Ending ending = run(mpirun(processes, {scenario}));
      INFO(ending.output);
      const Report report = report_in(ending.output);
      CHECK(report.count == 1);
      CHECK(report.name == row.name);
      CHECK(report.op == row.op);
      if (row.rank != kAny) CHECK(report.rank == row.rank);
      if (row.peer != kAny) CHECK(report.peer == row.peer);
      // A blocking library call hides the other ranks' calls.
      const std::size_t known = report.name == "TimedOut" ? 1 : report.lines.size();
      std::size_t named = 0;
      for (const int line : report.lines) {
        if (contains(report.text, "failing_program.cc:" + std::to_string(line))) ++named;
      }
      CHECK(named >= std::min(known, report.lines.size()));
      CHECK(ending.exit_code == row.exit_code);
      CHECK(all_are_gone());
    }
  }
}

TEST_CASE("a report says what each rank did last, which has not reported, and what to run") {
  const Ending ending = run(mpirun(3, {"busy"}));
  INFO(ending.output);
  for (const char* part : {"rank 0  ", "rank 1  has not reported", "rank 2  has not reported",
                           "./rankbox run FILE --ranks 3"})
    CHECK(contains(ending.output, part));
}

}  // namespace
}  // namespace rankbox::testing
