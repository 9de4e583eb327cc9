// Typical wrong programs, each with its expected verdict.
//
// A program's source marks the expected line with HERE.
#include <algorithm>
#include <sstream>

#include <doctest/doctest.h>

#include "judge/verdict_text.h"
#include "tests/cli/command.h"
#include "tests/support/run_tests.h"
#include "tests/support/text.h"

namespace rankbox {

namespace {

struct Wrong {
  const char* file;
  const char* exercise;
  FailureKind kind;
  int rank;           // -1: any
  const char* value;  // in the message
};

const std::vector<Wrong>& programs() {
  using enum FailureKind;
  static std::vector<Wrong> all = {
      {"barrier_every_step.cc", "broadcast_ring", kSafety, 0, "barrier"},
      {"does_not_compile.txt", "broadcast_naive", kCompile, -1, "telepathy"},
      {"endless.cc", "broadcast_naive", kTimeout, 1, "loop"},
      {"exits.cc", "broadcast_naive", kCrash, 2, "exit(0)"},
      {"freed_buffer.cc", "broadcast_naive", kSafety, 0, "freed the tensor of its isend to rank"},
      {"half_a_barrier.cc", "barrier_dissemination", kValues, -1, ""},
      {"hoards.cc", "broadcast_naive", kMemory, 0, ""},
      {"hoards_bytes.cc", "broadcast_naive", kMemory, 0, ""},
      {"junk_payload.cc", "broadcast_ring", kValues, 1, "tensor[0] on rank 1"},
      {"leaves_at_once.cc", "broadcast_naive", kCrash, -1, "0"},
      {"lost_result.cc", "allreduce_naive", kValues, 0, "rank 0"},
      {"missing_function.cc", "broadcast_naive", kCompile, -1,
       "void rankbox::broadcast_naive(Comm& dist, Tensor& tensor, int src)"},
      {"native.cc", "broadcast_tree", kMessages, 0, "broadcast"},
      {"native_all_gather.cc", "allgather_bruck", kMessages, 0, "all_gather"},
      {"native_barrier.cc", "barrier_dissemination", kMessages, 0, "barrier"},
      {"native_barrier_and_wrong.cc", "broadcast_naive", kValues, 1, "barrier"},
      {"native_gather.cc", "gather_tree", kMessages, 0, "gather"},
      {"native_scatter.cc", "scatter_tree", kMessages, 0, "scatter"},
      {"null_pointer.cc", "broadcast_naive", kCrash, 1, "segmentation fault"},
      {"other_parameters.cc", "broadcast_naive", kCompile, -1, ""},
      {"other_root.cc", "broadcast_naive", kMismatch, 0, "root"},
      {"recursion.cc", "broadcast_naive", kCrash, 1, "recursion"},
      {"reused_buffer.cc", "broadcast_naive", kSafety, 0, "isend"},
      {"send_send.cc", "exchange", kDeadlock, 0, "buffered"},
      {"shared_static.cc", "broadcast_naive", kValues, 1, "static (root_of_the_last_call)"},
      {"size_mismatch.cc", "broadcast_naive", kMismatch, -1, ""},
      {"sleeps.cc", "broadcast_naive", kTimeout, 0, "asleep"},
      {"spoils_input.cc", "gather_naive", kValues, 1, "input"},
      {"swapped_op.cc", "reduce_naive", kValues, 1, "op=MAX"},
      {"throws.cc", "broadcast_naive", kCrash, 1, "range_check"},
      {"throws_in_thread.cc", "broadcast_naive", kCrash, -1, ""},
      {"undefined_helper.cc", "broadcast_naive", kCompile, -1, "rankbox::helper"},
      {"unreceived.cc", "broadcast_naive", kUnreceived, 0, "isend"},
      {"whole_tensors.cc", "allreduce_ring", kCost, -1, ""},
      {"wrong_root.cc", "broadcast_naive", kValues, 0, "root=1"},
  };
  std::erase_if(all, [](const Wrong& wrong) { return !testing::wants_row(wrong.file); });
  return all;
}

std::string path_of(const Wrong& wrong) { return std::string("tests/judge/wrong/") + wrong.file; }

/// Returns the marked line; 0 if there is none, and any line is accepted.
int marked_line(const Wrong& wrong) {
  std::istringstream source(read_file(path_of(wrong)));
  int number = 0;
  for (std::string line; std::getline(source, line);) {
    ++number;
    if (line.find("// HERE") != std::string::npos) return number;
  }
  return 0;
}

const std::vector<Verdict>& verdicts() {
  static const std::vector<Verdict> all = [] {
    std::vector<std::vector<std::string>> checks;
    for (const Wrong& wrong : programs()) {
      // The time limit is short only where the program always reaches it.
      const char* seconds = wrong.kind == FailureKind::kTimeout ? "5" : "60";
      checks.push_back({wrong.exercise, "--file", path_of(wrong), "--timeout", seconds});
    }
    return checked_all(checks);
  }();
  return all;
}

}  // namespace

TEST_CASE("every wrong program gets the verdict it deserves, with rank, file and line") {
  for (std::size_t i = 0; i < programs().size(); ++i) {
    const Wrong& wrong = programs()[i];
    const Verdict& verdict = verdicts()[i];
    INFO(wrong.file, ": ", to_text(verdict));
    REQUIRE(verdict.failure.has_value());
    CHECK(verdict.status == Status::kFail);
    CHECK(std::string(name_of(verdict.failure->kind)) == std::string(name_of(wrong.kind)));
    CHECK(testing::contains(verdict.failure->message, wrong.value));
    CHECK(verdict.failure->file == path_of(wrong));
    CHECK(verdict.checks.size() == 4);
    if (wrong.rank >= 0) CHECK(verdict.failure->rank == wrong.rank);
    const int line = marked_line(wrong);
    if (line > 0) CHECK(verdict.failure->line == line);
  }
}

TEST_CASE("every failure of a run can be replayed with one line of at most 256 characters") {
  for (std::size_t i = 0; i < programs().size(); ++i) {
    const Failure& failure = *verdicts()[i].failure;
    INFO(programs()[i].file, ": ", failure.replay);
    if (failure.kind == FailureKind::kCompile) continue;
    CHECK(failure.replay.find("./rankbox check ") == 0);
    CHECK(failure.replay.find(" --replay ") != std::string::npos);
    CHECK(failure.replay.size() <= 256);
  }
}

TEST_CASE("a replay runs just the case that failed, and fails in the same way") {
  for (std::size_t i = 0; i < programs().size(); ++i) {
    const Wrong& wrong = programs()[i];
    if (wrong.kind != FailureKind::kValues && wrong.kind != FailureKind::kDeadlock) continue;
    const std::string& line = verdicts()[i].failure->replay;
    const std::string example = line.substr(line.find("--replay ") + 9);
    const Verdict again = checked({wrong.exercise, "--file", path_of(wrong), "--replay", example});
    INFO(line, "\n", to_text(again));
    REQUIRE(again.failure.has_value());
    CHECK(again.failure->kind == wrong.kind);
    CHECK(again.failure->replay == line);
  }
}

TEST_CASE("a failure is reported in at most twelve lines") {
  for (const Verdict& verdict : verdicts()) {
    const std::string text = to_text(verdict);
    INFO(text);
    CHECK(std::count(text.begin(), text.end(), '\n') <= 12);
  }
}

TEST_CASE("what a program prints is shown, and is no part of the verdict") {
  const std::vector<std::string> check = {"check", "broadcast_naive", "--file",
                                          "tests/judge/wrong/prints.cc"};
  const CommandResult shown = rankbox(check);
  CHECK(shown.exit_code == 0);
  CHECK(shown.output.find("| {\"status\": \"fail\"}") != std::string::npos);

  const Verdict verdict = checked({check.begin() + 1, check.end()});
  CHECK(verdict.status == Status::kPass);
}

}  // namespace rankbox
