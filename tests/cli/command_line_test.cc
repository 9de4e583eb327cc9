// The command line itself: mistakes, help, progress, and cleanup.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "judge/catalog.h"
#include "tests/cli/command.h"
#include "tests/cli/wrong_programs.h"
#include "tests/support/text.h"

namespace rankbox {

namespace fs = std::filesystem;

namespace {

std::string status_in_list(const std::string& exercise) {
  for (const auto& entry : nlohmann::json::parse(rankbox({"list", "--json"}).output)) {
    if (entry.at("name") == exercise) return entry.at("status");
  }
  return "not listed";
}

void write_exercise(const std::string& name, const std::string& text) {
  std::ofstream(fs::path(project()) / stub_path(*find_exercise(name))) << text;
}

std::size_t leftovers() {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(fs::temp_directory_path())) {
    if (entry.path().filename().string().rfind("rankbox.", 0) == 0) ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("a mistake of the user's is one line that names it, and exit code 2") {
  struct Mistake {
    std::vector<std::string> arguments;
    const char* names;
  };
  const std::vector<Mistake> mistakes = {
      {{"check", "broadcast_rign"}, "broadcast_ring"},
      {{"check", "zzzzzz"}, "rankbox list"},
      {{"check", "broadcast_ring", "--file", "nowhere.cc"}, "nowhere.cc"},
      {{"check", "broadcast_ring", "--file", "."}, "."},
      {{"check", "nowhere/broadcast_ring.cc"}, "nowhere/broadcast_ring.cc"},
      {{"--course", "/nowhere", "list"}, "list --course /nowhere"},
      {{"check", "broadcast_ring", "--file", "a.cc", "--solution"}, "--solution"},
      {{"check", "broadcast_ring", "--timeout", "0"}, "--timeout"},
      {{"check", "broadcast_ring", "--timeout", "soon"}, "--timeout"},
      {{"check", "broadcast_ring", "--memory", "1"}, "--memory"},
      {{"check", "broadcast_ring", "--replay", "world_size=0"}, "world_size=0"},
      {{"check", "broadcast_ring", "--replay", "world_size=2,root=2"}, "root=2"},
      {{"check", "broadcast_ring", "--replay", "op=SUM"}, "op"},
      {{"check", "broadcast_ring", "--replay", "root"}, "field=value"},
      {{"check", "race", "--replay", "threads=3"}, "threads"},
      {{"check", "reduce_tree", "--replay", "op=XOR"}, "XOR"},
      {{"check", "0"}, "02_broadcast"},
      {{"watch", "0"}, "02_broadcast"},
      {{"check", "ping_pong", "--predict", "many"}, "number of steps"},
      {{"show", "race"}, "./rankbox race FILE"},
      {{"race", "ping_pong"}, "./rankbox check ping_pong"},
      {{"check"}, "name"},
      {{"check", "broadcast_ring", "--colour"}, "--colour"},
      {{"check", "broadcast_ring", "--colour"}, "./rankbox check --help"},
      {{"check", "broadcast_ring", "--memory", "much"}, "1048576"},
      {{"check", "broadcast_ring", "--replay", "world_size=25"}, "1 to 24"},
      {{"check", "broadcast_ring", "--replay", "count=10000"}, "0 to 9999"},
      {{"chekc"}, "chekc"},
      {{"chekc"},
       "demo, list, next, check, watch, hint, reset, show, run, compare, gpu, fit, plan, grade, "
       "race, train, test"},
      {{"chek", "race"}, "did you mean check?"},
      {{"race", "--repeats", "x"}, "0 to 1000000000"},
      {{"race", "--threads", "3"}, "--threads"},
      {{"race", "--runs", "0"}, "1 to 100000"},
      {{"compare", "--op", "nope"}, "\"nope\""},
      {{"fit"}, "log"},
      {{"fit", "no/such.log"}, "no/such.log"},
      {{"fit", "exercises/registry.toml"}, "first line"},
      {{"fit", "exercises/registry.toml", "--ranks-per-node", "0"}, "--ranks-per-node"},
      {{"fit", "exercises/registry.toml", "--out", "my.txt"}, "my.txt"},
      {{"plan", "--model", "9B"}, "405B"},
      {{"plan", "--batch", "1000"}, "sequences of 4096"},
      {{"plan", "--batch", "some"}, "--batch some"},
      {{"plan", "--cluster", "laptop"}, "--gpu"},
      {{"plan", "--gpus", "0"}, "--gpus"},
      {{"plan", "--strategy", "zero9"}, "zero1"},
      {{"plan", "--schedule", "best"}, "zero-bubble"},
      {{"plan", "--cluster", "h100-nvlink", "--gpus", "16"}, "at most 8"},
      {{"plan", "--tensor", "3"}, "32 heads"},
      {{"plan", "--plot", "plan.txt"}, ".svg"},
      {{"gpu", "--only", "nothing"}, "contract-shared"},
      {{"gpu", "--markdown", "--json", "-"}, "--markdown"},
      {{"gpu", "--bundle", "there", "--json", "-"}, "run.sh"},
      {{"gpu", "--seconds", "soon"}, "--seconds"},
      {{"compare", "--iters", "few"}, "1 to 1000000"},
      {{"compare", "--buffering", "eager:8,16"}, "\"8,16\""},
      {{"compare", "--buffering", "eager:-1"}, "-1"},
      {{"compare", "--buffering", "eager:"}, "\"\""},
  };
  for (const Mistake& mistake : mistakes) {
    const CommandResult result = rankbox(mistake.arguments);
    INFO(result.output);
    CHECK(result.exit_code == 2);
    CHECK(result.output.find("rankbox: ") == 0);
    CHECK(result.output.find(mistake.names) != std::string::npos);
    CHECK(std::count(result.output.begin(), result.output.end(), '\n') == 1);
  }
}

TEST_CASE("a chapter has its folder, its number and its word as names") {
  for (const char* name : {"5", "05", "gather", "05_gather", "exercises/05_gather/"}) {
    const CommandResult refused = rankbox({"check", name, "--replay", "world_size=2"});
    INFO(refused.output);
    CHECK(refused.exit_code == 2);
    CHECK(testing::contains(refused.output, "05_gather is a chapter"));
  }
}

TEST_CASE("a world that this machine cannot start is refused before anything is measured") {
  const std::int64_t too_little = std::int64_t{512} << 20;
  const CommandResult result =
      rankbox({"compare", "--ranks", "2,512", "--sizes", "4", "--iters", "1"}, too_little);
  INFO(result.output);
  CHECK(result.exit_code == 2);
  CHECK(result.output.starts_with("rankbox: "));
  CHECK(testing::contains(result.output, "512"));
  CHECK(std::count(result.output.begin(), result.output.end(), '\n') == 1);
}

TEST_CASE("help comes with an example for every subcommand") {
  for (const char* subcommand :
       {"list", "next", "check", "race", "compare", "gpu", "grade", "run", "demo", "train"}) {
    const CommandResult result = rankbox({subcommand, "--help"});
    INFO(result.output);
    CHECK(result.exit_code == 0);
    CHECK(result.output.find("./rankbox " + std::string(subcommand)) != std::string::npos);
  }
  const CommandResult version = rankbox({"--version"});
  CHECK(version.exit_code == 0);
  CHECK(version.output.starts_with("rankbox "));
  const CommandResult all = rankbox({"--help"});
  CHECK(all.exit_code == 0);
  CHECK(all.output.find("judge") == std::string::npos);  // for internal use
}

TEST_CASE("list --json has every exercise with all its fields") {
  const auto list = nlohmann::json::parse(rankbox({"list", "--json"}).output);
  CHECK(list.size() == exercises().size());
  for (const auto& entry : list) {
    INFO(entry.dump());
    for (const char* field : {"name", "chapter", "difficulty", "importance", "status", "file"}) {
      CHECK(entry.contains(field));
    }
    CHECK(fs::exists(fs::path(project()) / entry.at("file").get<std::string>()));
  }
}

TEST_CASE("a check of the learner's own file is remembered, until the file is edited") {
  const std::string stub = read_file("exercises/02_broadcast/broadcast_naive.cc");
  CHECK(status_in_list("broadcast_naive") == "not_started");

  write_exercise("broadcast_naive", read_file("solutions/02_broadcast/broadcast_naive.cc"));
  CHECK(rankbox({"check", "broadcast_naive"}).exit_code == 0);
  CHECK(status_in_list("broadcast_naive") == "pass");

  write_exercise("broadcast_naive", stub + "// edited\n");
  CHECK(status_in_list("broadcast_naive") == "changed");
  // Named by its path, and with a missing step.
  CHECK(rankbox({"check", "exercises/02_broadcast/broadcast_naive.cc"}).exit_code == 1);
  CHECK(status_in_list("broadcast_naive") == "not_implemented");

  write_exercise("broadcast_naive", stub);
}

TEST_CASE("neither --solution, --file nor --replay counts as progress") {
  REQUIRE(status_in_list("broadcast_tree") == "not_started");
  rankbox({"check", "broadcast_tree", "--solution"});
  rankbox({"check", "broadcast_tree", "--file", "solutions/02_broadcast/broadcast_tree.cc"});
  rankbox({"check", "broadcast_tree", "--replay", "world_size=2"});
  CHECK(status_in_list("broadcast_tree") == "not_started");
}

TEST_CASE("progress that was spoilt is no progress, and no error") {
  fs::create_directories(fs::path(project()) / ".rankbox");
  std::ofstream(fs::path(project()) / ".rankbox/progress.json") << "{\"broadcast_ring\": 7, [";
  CHECK(status_in_list("broadcast_ring") == "not_started");
  CHECK(rankbox({}).exit_code == 0);
  fs::remove(fs::path(project()) / ".rankbox/progress.json");
}

TEST_CASE("the overview names the chapters and what to do next") {
  const CommandResult overview = rankbox({});
  INFO(overview.output);
  CHECK(overview.exit_code == 0);
  for (const Chapter& chapter : chapters()) {
    CHECK(overview.output.find(chapter.title) != std::string::npos);
  }
  CHECK(overview.output.find("./rankbox check race") != std::string::npos);
}

TEST_CASE("Ctrl-C ends a check at once with 130, and leaves no process and no file behind") {
  const std::string sleeps = wrong_program("sleeps");
  const std::size_t before = leftovers();
  const pid_t child = fork();
  if (child == 0) {
    const std::string program = rankbox_program();
    if (chdir(project().c_str()) != 0) _exit(126);
    execl(program.c_str(), "rankbox", "check", "broadcast_naive", "--file", sleeps.c_str(),
          "--timeout", "600", nullptr);
    _exit(127);
  }
  // Interrupts the judge while it runs: a temporary file and a grandchild then exist.
  for (int i = 0; i < 3000 && leftovers() == before; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  CHECK(leftovers() == before + 1);
  kill(child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 130);
  CHECK(leftovers() == before);
}

}  // namespace rankbox
