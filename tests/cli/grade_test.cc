// `rankbox grade`: a class from submissions to formats, on the built program.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <set>
#include <sstream>
#include <thread>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/support/child.h"
#include "cli/support/container.h"
#include "judge/catalog.h"
#include "tests/cli/command.h"
#include "tests/cli/graded_class.h"
#include "tests/support/text.h"

namespace rankbox {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Words = std::vector<std::string>;
using testing::contains;

/// The class of most tests: one who is right, one who is wrong twice, and one with a stub.
std::string small_class() {
  static const std::string path = [] {
    hand_in("class/ada/ping_pong.cc", solution("ping_pong"));
    hand_in("class/ada/exchange.cc", solution("exchange"));
    hand_in("class/bob/ping_pong.cc", "#include \"collectives/ping_pong.h\"\nnonsense\n");
    hand_in("class/bob/exchange.cc", read_file(stub_path(*find_exercise("exchange"))));
    hand_in("class/eve/ping_pong.cc", read_file(stub_path(*find_exercise("ping_pong"))));
    return path_of("class");
  }();
  return path;
}

CommandResult grade(const std::string& folder, const Words& options) {
  Words words = {"grade", folder, "--unsealed"};
  words.insert(words.end(), options.begin(), options.end());
  return rankbox(words);
}

Json graded(const std::string& folder, const Words& options, int exit_code = 0) {
  Words words = options;
  words.insert(words.end(), {"--format", "json"});
  const CommandResult result = grade(folder, words);
  INFO(result.output);
  REQUIRE(result.exit_code == exit_code);
  return report_in(result.output);
}

void remove_seconds(Json& json) {
  if (json.is_object()) json.erase("seconds");
  for (auto& each : json) {
    if (each.is_structured()) remove_seconds(each);
  }
}

const std::set<std::string> kStatuses = {"ada exchange pass",    "ada ping_pong pass",
                                         "bob exchange fail",    "bob ping_pong fail",
                                         "eve exchange missing", "eve ping_pong not_implemented"};

std::ptrdiff_t lines_in(const std::string& path) {
  std::ifstream file(path);
  return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
}

}  // namespace

TEST_CASE("a class is graded into every format") {
  const std::string folder = small_class();
  const Json report = graded(folder, {});
  CHECK(statuses(report) == kStatuses);
  // Messages name the file as the student does.
  const Json failure =
      report.at("students").at(1).at("exercises").at(1).at("verdict").at("failure");
  CHECK(failure.at("file") == "exchange.cc");
  CHECK(contains(failure.at("message"), " at exchange.cc:14"));
  CHECK(report.at("salt").is_null());
  CHECK(contains(failure.at("replay"), "bob/exchange.cc --salt "));
  CHECK(contains(failure.at("replay"), " --replay "));

  const CommandResult table = grade(folder, {"--html", path_of("class.html")});
  INFO(table.output);
  CHECK(table.exit_code == 0);
  CHECK(contains(table.output, "✓ ✓   7 of 7"));
  CHECK(fs::file_size(path_of("class.html")) > 10'000);
  const std::string page = read_file("tmp/class.html");
  CHECK(contains(page, "rank 0  out"));  // the picture of a deadlock

  struct Row {
    const char* format;
    const char* file;  // below --out
    const char* part;
  };
  for (const Row& row :
       {Row{"csv", "", "\"ada\",\"ada\",,\"\",,"}, Row{"junit", "", "<testsuites"},
        Row{"html", "", "<!DOCTYPE html>"}, Row{"gradescope", "/ada/results.json", "\"max_score\""},
        Row{"exercism", "/bob/results.json", "\"version\": 3"},
        Row{"classroom50", "/eve/result.json", "\"max_score\""}}) {
    INFO(row.format);
    const std::string out = std::string("out_") + row.format;
    const CommandResult result = grade(folder, {"--format", row.format, "--out", path_of(out)});
    INFO(result.output);
    CHECK(result.exit_code == 0);
    CHECK(contains(read_file("tmp/" + out + row.file), row.part));
  }
}

TEST_CASE("grades are sealed where there are containers, and agree") {
  const CommandResult result = rankbox({"grade", small_class(), "--format", "json"});
  INFO(result.output);
  if (const std::string problem = cli::container_problem(); !problem.empty()) {
    CHECK(result.exit_code == 1);
    CHECK(testing::lacks(result.output, {problem, "--unsealed"}) == "");
    return;
  }
  REQUIRE(result.exit_code == 0);
  const Json report = report_in(result.output);
  CHECK(report.at("sealed") == true);
  CHECK(statuses(report) == kStatuses);
}

TEST_CASE("points, weights, exercises and lateness decide about points") {
  hand_in("late/ada/broadcast_tree.cc", solution("broadcast_tree"));
  std::string naive = solution("broadcast_naive");
  for (std::size_t at = 0; (at = naive.find("broadcast_naive", at)) != std::string::npos;)
    naive.replace(at, std::string("broadcast_naive").size(), "broadcast_tree");
  hand_in("late/bob/broadcast_tree.cc", naive);
  hand_in("late/bob/race.cc", "not asked for");
  hand_in("late.toml",
          "[points]\nbroadcast_tree = 10\n[weights]\nvalues = 3\nmessages = 1\n"
          "cost = 0\nsafety = 0\nmemory = 0\n");
  using std::chrono::hours;
  fs::last_write_time(path_of("late/ada/broadcast_tree.cc"),
                      fs::file_time_type::clock::now() + hours(25));
  const auto in_an_hour =
      std::chrono::system_clock::to_time_t(std::chrono::system_clock::now() + hours(1));
  std::ostringstream due;
  due << std::put_time(std::gmtime(&in_an_hour), "%Y-%m-%dT%H:%M:%SZ");

  const Json report = graded(path_of("late"), {"--points", path_of("late.toml"), "--due", due.str(),
                                               "--late-penalty", "20"});
  CHECK(report.at("exercises").size() == 1);
  const Json ada = report.at("students").at(0).at("exercises").at(0);
  CHECK(ada.at("status") == "pass");
  CHECK(ada.at("days_late") == 1);
  CHECK(ada.at("points") == 8);
  const Json bob = report.at("students").at(1).at("exercises").at(0);
  CHECK(bob.at("status") == "fail");
  CHECK(bob.at("days_late") == 0);
  CHECK(bob.at("points") == 7.5);  // right values, another algorithm's messages

  // A clone's files have the time of the clone.
  for (const bool is_clone : {false, true}) {
    if (is_clone) fs::create_directories(path_of("late/ada/.git"));
    const CommandResult told = rankbox({"grade", path_of("late"), "--exercises", "broadcast_tree",
                                        "--due", due.str(), "--unsealed"});
    CHECK(contains(told.output, "1 of 2 students handed in git clones") == is_clone);
  }
  const Json chosen = graded(path_of("late"), {"--exercises", "race", "--seconds", "20"});
  CHECK(statuses(chosen) == std::set<std::string>{"ada race missing", "bob race fail"});
}

TEST_CASE("a run that is killed goes on with the same result") {
  const std::string folder = small_class();
  const Words salted = {"--salt", "7", "--jobs", "1"};
  const auto with_state = [&](const std::string& name) {
    Words words = salted;
    words.insert(words.end(), {"--state", path_of(name)});
    return words;
  };
  Json whole = graded(folder, with_state("whole.jsonl"));
  remove_seconds(whole);

  // At any number of lines in the state; the first has the secret.
  for (const int lines : {1, 2, 4}) {
    const std::string state = path_of("killed" + std::to_string(lines) + ".jsonl");
    const auto lines_written = [&] { return lines_in(state); };
    cli::ChildOptions killed;
    killed.command = {rankbox_program(), "grade", folder,    "--unsealed", "--salt", "7",
                      "--jobs",          "1",     "--state", state};
    killed.directory = project();
    killed.seconds = 300;
    killed.file_bytes = std::int64_t{1} << 30;
    killed.keep_running = [&] { return lines_written() < lines; };
    run_child(killed);  // SIGKILL
    CHECK(lines_written() >= lines);

    Json resumed = graded(folder, with_state("killed" + std::to_string(lines) + ".jsonl"));
    remove_seconds(resumed);
    CHECK((resumed == whole));    // too long to print
    CHECK(lines_written() == 6);  // nothing was graded twice
  }
}

TEST_CASE("Ctrl-C ends it with 130, and it says where results are kept") {
  const std::string folder = small_class();
  const std::string state = path_of("interrupted.jsonl");
  const std::string output = path_of("interrupted.txt");
  const pid_t child = fork();
  if (child == 0) {
    const std::string program = rankbox_program();
    if (chdir(project().c_str()) != 0 || freopen(output.c_str(), "w", stderr) == nullptr)
      _exit(126);
    execl(program.c_str(), "rankbox", "grade", folder.c_str(), "--unsealed", "--jobs", "1",
          "--state", state.c_str(), nullptr);
    _exit(127);
  }
  // The first line has the secret; from the second on, files are graded.
  for (int i = 0; i < 30'000 && lines_in(state) < 2; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  kill(child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 130);
  std::ifstream file(output);
  const std::string said(std::istreambuf_iterator<char>(file), {});
  INFO(said);
  CHECK(said.find("interrupted: results are kept in") != std::string::npos);
  CHECK(said.find("interrupted.jsonl") != std::string::npos);
}

TEST_CASE("an error of ours is no failure") {
  const std::string folder = small_class();
  struct Row {
    const char* what;
    Words options;
    const char* compiler;
  };
  for (const Row& row :
       {Row{"no compiler", {"--state", path_of("none.jsonl")}, "/no/such/compiler"},
        Row{"no time", {"--fresh", "--seconds-in-all", "0.000001"}, "c++"}}) {
    INFO(row.what);
    setenv("CXX", row.compiler, 1);
    const Json report = graded(folder, row.options, 1);
    unsetenv("CXX");
    const std::set<std::string> errors = {"ada exchange error",   "ada ping_pong error",
                                          "bob exchange error",   "bob ping_pong error",
                                          "eve exchange missing", "eve ping_pong error"};
    CHECK(statuses(report) == errors);
    CHECK(report.at("students").at(0).at("points").is_null());
  }
  // Without the limit, the same state goes on.
  CHECK(statuses(graded(folder, {})) == kStatuses);

  // Each student has time for one file.
  const Json first =
      graded(folder, {"--fresh", "--seconds-per-student", "0.001", "--jobs", "1"}, 1);
  const std::set<std::string> one_each = {"ada exchange error",   "ada ping_pong pass",
                                          "bob exchange error",   "bob ping_pong fail",
                                          "eve exchange missing", "eve ping_pong not_implemented"};
  CHECK(statuses(first) == one_each);
}

TEST_CASE("files that are no source files, and helpers") {
  hand_in("odd/ada/race.cc", std::string((1 << 20) + 1, ' '));
  hand_in("odd/ada/own.h", "#pragma once\ninline int one() { return 1; }\n");
  hand_in("odd/ada/ping_pong.cc",
          "#include \"own.h\"\nstatic_assert(sizeof(one()) > 0);\n" + solution("ping_pong"));
  mkfifo(path_of("odd/ada/exchange.cc").c_str(), 0600);
  fs::create_symlink(path_of("odd/ada/ping_pong.cc"), path_of("odd/ada/broadcast_tree.cc"));
  const Json report = graded(path_of("odd"), {});
  const std::set<std::string> expected = {"ada broadcast_tree fail", "ada exchange fail",
                                          "ada ping_pong pass", "ada race fail"};
  CHECK(statuses(report) == expected);
  std::string reasons;
  for (const Json& one : report.at("students").at(0).at("exercises"))
    reasons += one.at("reason").get<std::string>() + "\n";
  CHECK(testing::lacks(reasons, {"1 MiB", "pipe", "link"}) == "");
}

TEST_CASE("no link in a submission is followed, in any layout") {
  hand_in("secret/ping_pong.cc", solution("ping_pong"));
  hand_in("secret/secret.h", "#error 4711-secret\n");
  const auto link = [](const std::string& name, const std::string& target) {
    const fs::path path = path_of(name);
    fs::create_directories(path.parent_path());
    fs::create_symlink(target, path);
  };
  const std::string solutions = project() + "/solutions/01_ranks_and_races/ping_pong.cc";
  link("links/ada/ping_pong.cc", solutions);
  link("links/ada/exchange.cc", "/etc/passwd");
  link("links/ada/race.cc", path_of("secret"));  // a folder
  link("links/bob/sub", path_of("secret"));
  hand_in("links/bob/exchange.cc", "#include \"secret.h\"\n" + solution("exchange"));
  link("links/bob/secret.h", path_of("secret/secret.h"));
  link("links/eve", path_of("secret"));
  link("flat_links/ada__ping_pong.cc", solutions);
  link("canvas_links/ada_47_11_ping_pong.cc", solutions);
  struct Row {
    Words options;
    std::set<std::string> expected;
  };
  const Row table[] = {
      {{path_of("links")},
       {"ada exchange fail", "ada ping_pong fail", "ada race fail", "bob exchange fail",
        "bob ping_pong missing", "bob race missing"}},
      {{path_of("links/ada"), "--layout", "single"},
       {"ada exchange fail", "ada ping_pong fail", "ada race fail"}},
      {{path_of("flat_links"), "--layout", "flat"}, {"ada ping_pong fail"}},
      {{path_of("canvas_links"), "--layout", "canvas"}, {"ada_47 ping_pong fail"}}};
  for (const Row& row : table) {
    const Json report = graded(row.options.front(), {row.options.begin() + 1, row.options.end()});
    CHECK(statuses(report) == row.expected);
    const std::string text = report.dump();
    for (const char* part : {"root:", "4711-secret", "world_size()"}) CHECK(!contains(text, part));
  }
}

TEST_CASE("equal files are graded once") {
  for (const char* student : {"a", "b", "c", "d"})
    hand_in(std::string("equal/") + student + "/ping_pong.cc", solution("ping_pong"));
  const Json report = graded(path_of("equal"), {"--state", path_of("equal.jsonl"), "--jobs", "2"});
  CHECK(statuses(report).size() == 4);
  const std::string kept = read_file("tmp/equal.jsonl");
  CHECK(std::ranges::count(kept, '\n') == 2);  // the secret and a result
}

TEST_CASE("a mistake of the user's is one line that names it, and exit code 2") {
  const std::string folder = small_class();
  fs::create_symlink("../bob/ping_pong.cc", folder + "/ada/link");
  struct Mistake {
    Words arguments;
    const char* names;
  };
  const std::vector<Mistake> mistakes = {
      {{"grade"}, "folder"},
      {{"grade", "/nowhere"}, "/nowhere"},
      {{"grade", folder, "--layout", "piles"}, "gradescope"},
      {{"grade", folder, "--layout", "flat"}, "--layout"},
      {{"grade", folder, "--format", "pdf"}, "junit"},
      {{"grade", folder, "--exercises", "broadcast_tere"}, "broadcast_tree"},
      {{"grade", folder, "--points", "/nowhere.toml"}, "/nowhere.toml"},
      {{"grade", folder, "--due", "tomorrow"}, "tomorrow"},
      {{"grade", folder, "--late-penalty", "10"}, "--due"},
      {{"grade", folder, "--due", "2026-12-01", "--late-penalty", "101"}, "101"},
      {{"grade", folder, "--seconds", "0"}, "--seconds"},
      {{"grade", folder, "--jobs", "0"}, "--jobs"},
      {{"grade", folder, "--out", "x"}, "--format"},
      {{"grade", folder, "--format", "gradescope"}, "--out"},
      {{"grade", folder, "--format", "gradescope", "--out", folder}, "link"},
      {{"grade", folder, "--format", "csv", "--out", folder + "/ada/link"}, "link"},
      {{"grade", folder, "--html", folder + "/ada/link"}, "link"},
      {{"grade", folder, "--html", "/nowhere/x.html"}, "--html"},
      {{"grade", folder, "--format", "csv", "--out", "/nowhere/x.csv"}, "--out"},
      {{"grade", folder, "--salt", "-1"}, "--salt"},
      {{"grade", folder, "--salt", "0"}, "--salt"},
      {{"grade", folder, "--state", folder}, "--state"},
      {{"grade", folder, "--state", "/nowhere/state"}, "--state"},
  };
  for (const Mistake& mistake : mistakes) {
    const CommandResult result = rankbox(mistake.arguments);
    INFO(result.output);
    CHECK(result.exit_code == 2);
    CHECK(result.output.starts_with("rankbox: "));
    CHECK(contains(result.output, mistake.names));
    CHECK(std::ranges::count(result.output, '\n') == 1);
  }
}

}  // namespace rankbox
