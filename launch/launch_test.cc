// Everything together: the launcher starts real programs that find each other by their environment.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sys/wait.h>

namespace rankbox::launcher {
namespace {

struct Run {
  int exit_code = 0;
  std::string output;  // standard output and error
};

std::string program(const char* variable) {
  const char* path = std::getenv(variable);
  REQUIRE_MESSAGE(path != nullptr, variable);
  return path;
}

Run launch(const std::string& arguments) {
  const std::string command = program("RANKBOX_LAUNCH") + " " + arguments + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  Run run;
  std::array<char, 4096> buffer;
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    run.output.append(buffer.data(), got);
  }
  run.exit_code = WEXITSTATUS(pclose(pipe));
  return run;
}

int count(const std::string& text, const std::string& part) {
  int times = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++times;
  }
  return times;
}

TEST_CASE("2 to 8 processes find each other and add up their ranks") {
  for (const int processes : {1, 2, 5, 8}) {
    const Run run =
        launch("-n " + std::to_string(processes) + " " + program("RANK_PROGRAM") + " sum");
    CHECK(run.exit_code == 0);
    CHECK(run.output == "sum " + std::to_string(processes * (processes - 1) / 2) + "\n");
  }
}

TEST_CASE(
    "a rank that is killed is named by the others and by the launcher, whose exit code tells") {
  for (const int victim : {0, 2}) {
    const Run run = launch("-n 4 " + program("RANK_PROGRAM") + " die " + std::to_string(victim));
    CAPTURE(run.output);
    const std::string rank = "rank " + std::to_string(victim);
    CHECK(run.exit_code == 137);
    CHECK(count(run.output, "the test: " + rank + " ") == 3);
    CHECK(count(run.output, "rankbox-launch: " + rank + " (pid ") == 1);
    CHECK(count(run.output, "died of signal 9 (Killed)") == 1);
  }
}

TEST_CASE("a rank that throws ends the others, each in its own words") {
  const Run run = launch("-n 3 " + program("RANK_PROGRAM") + " fail 1 42");
  CAPTURE(run.output);
  CHECK(count(run.output, "rank 1 (pid ") >= 2);
  CHECK(count(run.output, "ended with an exception") == 2);
  CHECK((run.exit_code == 42 || run.exit_code == 1));  // whichever process was gone first
}

TEST_CASE("the launcher takes its own options, and leaves those of the program alone") {
  CHECK(launch("-n 1 echo -n a --processes b").output == "a --processes b");
  CHECK(launch("--processes 2 --grace 1 sh -c 'exit 4'").exit_code == 4);
  CHECK(launch("--help").exit_code == 0);
  for (const std::string wrong :
       {"", "-n", "-n 2", "-n x true", "-n 0 true", "-n 2 --grace -1 true"}) {
    CAPTURE(wrong);
    const Run run = launch(wrong);
    CHECK(run.exit_code == 2);
    CHECK(count(run.output, "\n") == 1);
    CHECK(count(run.output, "rankbox-launch: ") == 1);
  }
  const Run absent = launch("-n 2 /no/such/program");
  CHECK(absent.exit_code == 1);
  CHECK(absent.output ==
        "rankbox-launch: cannot start /no/such/program: No such file or directory\n");
}

}  // namespace
}  // namespace rankbox::launcher
