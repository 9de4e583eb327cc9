// Typical wrong programs, each with its expected verdict.
#include "tests/cli/wrong_programs.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>

#include "judge/verdict_text.h"
#include "tests/cli/command.h"
#include "tests/support/run_tests.h"
#include "tests/support/text.h"

namespace rankbox {

namespace {

const std::vector<WrongProgram>& programs() {
  static const std::vector<WrongProgram> all = [] {
    std::vector<WrongProgram> wanted;
    for (std::size_t row = 0; const WrongProgram& wrong : wrong_programs("wrong"))
      if (testing::wants_row(wrong.name) && testing::is_to_run(row++)) wanted.push_back(wrong);
    return wanted;
  }();
  return all;
}

/// Returns the marked line; 0 if there is none, and any line is accepted.
int marked_line(const WrongProgram& wrong) {
  std::istringstream source(read_file(wrong.path));
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
    for (const WrongProgram& wrong : programs()) {
      // The time limit is short only where the program always reaches it.
      const char* seconds = wrong.kind == "timeout" ? "5" : "60";
      checks.push_back({wrong.exercise, "--file", wrong.path, "--timeout", seconds});
    }
    return checked_all(checks);
  }();
  return all;
}

}  // namespace

TEST_CASE("every wrong program gets the verdict it deserves, with rank, file and line") {
  for (std::size_t i = 0; i < programs().size(); ++i) {
    const WrongProgram& wrong = programs()[i];
    const Verdict& verdict = verdicts()[i];
    INFO(wrong.name, ": ", to_text(verdict));
    REQUIRE(verdict.failure.has_value());
    CHECK(verdict.status == Status::kFail);
    CHECK(name_of(verdict.failure->kind) == wrong.kind);
    CHECK(testing::contains(verdict.failure->message, wrong.message));
    CHECK(verdict.failure->file == wrong.path);
    CHECK(verdict.checks.size() == 4);
    if (wrong.rank >= 0) CHECK(verdict.failure->rank == wrong.rank);
    const int line = marked_line(wrong);
    if (line > 0) CHECK(verdict.failure->line == line);
  }
}

TEST_CASE("every failure of a run can be replayed with one line of at most 256 characters") {
  for (std::size_t i = 0; i < programs().size(); ++i) {
    const Failure& failure = *verdicts()[i].failure;
    INFO(programs()[i].name, ": ", failure.replay);
    if (failure.kind == FailureKind::kCompile) continue;
    CHECK(failure.replay.find("./rankbox check ") == 0);
    CHECK(failure.replay.find(" --replay ") != std::string::npos);
    CHECK(failure.replay.size() <= 256);
  }
}

TEST_CASE("a replay runs just the case that failed, and fails in the same way") {
  for (std::size_t i = 0; i < programs().size(); ++i) {
    const WrongProgram& wrong = programs()[i];
    if (wrong.kind != "values" && wrong.kind != "deadlock") continue;
    const std::string& line = verdicts()[i].failure->replay;
    const std::string example = line.substr(line.find("--replay ") + 9);
    const Verdict again = checked({wrong.exercise, "--file", wrong.path, "--replay", example});
    INFO(line, "\n", to_text(again));
    REQUIRE(again.failure.has_value());
    CHECK(name_of(again.failure->kind) == wrong.kind);
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
  const std::string prints = "prints.cc";
  std::string program = read_file("solutions/02_broadcast/broadcast_naive.cc");
  program.insert(program.find("int src) {") + 10, R"(
    std::cout << "{\"status\": \"fail\"}\nverdict {}\n" << std::flush;
    std::fprintf(stderr, "rank %d was \xff here\n", dist.rank());
)");
  std::ofstream(std::filesystem::path(project()) / prints)
      << "#include <cstdio>\n#include <iostream>\n"
      << program;
  const std::vector<std::string> check = {"check", "broadcast_naive", "--file", prints};
  const CommandResult shown = rankbox(check);
  CHECK(shown.exit_code == 0);
  CHECK(shown.output.find("| {\"status\": \"fail\"}") != std::string::npos);

  const Verdict verdict = checked({check.begin() + 1, check.end()});
  CHECK(verdict.status == Status::kPass);
}

}  // namespace rankbox
