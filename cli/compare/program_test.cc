// The program as run by a user: exit codes, output, and remaining files.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cli/support/child.h"
#include "cli/support/exec.h"
#include "tests/support/run_tests.h"

namespace rankbox::cli {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using Json = nlohmann::json;

struct Result {
  int exit_code = 0;
  std::string output;
};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Words split(const std::string& text) {
  std::istringstream stream(text);
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

Result run(const Words& command) {
  ChildOptions options;
  options.command = command;
  options.seconds = 240;  // a hang
  options.file_bytes = std::int64_t{1} << 40;
  const ChildResult result = run_child(options);
  CHECK_FALSE(result.timed_out);
  return {exit_code_of(result.status), result.output};
}

/// Returns the command for a run of several ranks, as the BUILD file specifies; `before` comes
/// first.
Words with_ranks(const Words& options, Words before = {}) {
  for (const std::string& word : split(variable("RANKBOX_LAUNCHER"))) before.push_back(word);
  before.push_back(variable("RANKBOX_COMPARE"));
  for (const std::string& word : split(variable("RANKBOX_RANKS"))) before.push_back(word);
  before.insert(before.end(), options.begin(), options.end());
  return before;
}

/// Returns the options of a small sweep of one algorithm.
Words small(const Words& more) {
  Words options = {"-b", "1K", "-e", "64K", "-f",           "8",   "-n", "3",
                   "-m", "2",  "-w", "1",   "--algorithms", "ring"};
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

/// Returns a path in a new folder, so that any remaining file is found.
std::string path_in_new_folder(const char* folder) {
  const fs::path path = fs::path(variable("TEST_TMPDIR")) / folder;
  fs::remove_all(path);
  fs::create_directories(path);
  return path / "figures.json";
}

int files_beside(const std::string& path) {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(fs::path(path).parent_path())) {
    ++count;
  }
  return count;
}

Json read_json(const std::string& path) {
  std::ifstream file(path);
  return Json::parse(file);
}

/// Returns whether ranks can be started: NCCL needs a GPU. If not, skips the test case.
bool can_run() {
  const std::string line = run({variable("RANKBOX_COMPARE"), "--show-backend"}).output;
  static const std::regex has_gpus(", [0-9]+ GPUs?\n$");
  const bool can = !line.starts_with("nccl") || std::regex_search(line, has_gpus);
  if (!can) testing::pass_over("nothing to run on: " + line);
  return can;
}

bool is_on_mpi() { return !variable("RANKBOX_LAUNCHER").empty(); }

/// As can_run, for cases in which mpirun behaves differently.
bool can_run_without_mpirun() {
  if (is_on_mpi()) testing::pass_over("mpirun does this in its own way");
  return !is_on_mpi() && can_run();
}

TEST_CASE("all collectives and algorithms, right on every row, in the table and in the file") {
  if (!can_run()) return;
  const std::string path = path_in_new_folder("full");
  const Result result =
      run(with_ranks({"-b", "64", "-e", "4K", "-f", "8", "-n", "2", "-m", "3", "-w", "1",
                      "--collective", "all", "--cluster", "h100-nvlink", "-J", path}));
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  for (const char* part : {"\nall_reduce, 3 ranks, SUM, n = 64 B (16 float32)\n", "\n  native  ",
                           " dissemination ", "h100-nvlink: "}) {
    CAPTURE(part);
    CHECK(result.output.find(part) != std::string::npos);
  }
  const Json json = read_json(path);
  CHECK(json.at("results").size() > 50);
  for (const Json& row : json.at("results")) {
    CHECK(row.at("wrong") == 0);
    CHECK(row.at("time_us").at("median").get<double>() > 0);
    CHECK(row.at("p99_us").get<double>() >= row.at("latency_us").get<double>());
    // The library's other algorithms have no closed form.
    if (row.at("algorithm") != "native-ring") CHECK(row.at("virtual_us").get<double>() > 0);
    CHECK(row.at("failure").is_null());
    CHECK(row.at("whose") != "yours");
  }
  CHECK(files_beside(path) == 1);
}

TEST_CASE("-J - prints the figures, and nothing else") {
  if (!can_run()) return;
  const Result result = run(with_ranks(small({"-J", "-", "--baseline", "none"})));
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  CHECK(Json::parse(result.output).at("results").size() == 6);
}

TEST_CASE("a mistake is one line and exit code 2, and no file") {
  const std::string path = path_in_new_folder("mistake");
  for (const Words& mistake :
       {Words{"-b", "2M", "-e", "1M"}, Words{"--collective", "allreduce"}, Words{"-r", "77777"},
        Words{"--what"}, Words{"-o", "mulsum"}, Words{"--processes", "2"}}) {
    CAPTURE(mistake.front());
    // One process: launchers change exit codes.
    Words command = {variable("RANKBOX_COMPARE"), "-J", path};
    command.insert(command.end(), mistake.begin(), mistake.end());
    const Result result = run(command);
    CAPTURE(result.output);
    CHECK(result.exit_code == 2);
    CHECK(result.output.find("rankbox-compare-") == 0);
    CHECK(result.output.find('\n') == result.output.size() - 1);
    CHECK(files_beside(path) == 0);
  }
}

TEST_CASE("a file that cannot be written is said before anything is measured") {
  if (!can_run()) return;
  const Result result = run(with_ranks(small({"-J", "/no/such/folder/figures.json"})));
  CAPTURE(result.output);
  CHECK(result.exit_code != 0);
  CHECK(result.output.find("--json /no/such/folder/figures.json") != std::string::npos);
  CHECK(result.output.find("float32") == std::string::npos);
}

TEST_CASE("interrupted, it ends soon with the signal's code, and leaves no file") {
  if (!can_run_without_mpirun()) return;
  const std::string path = path_in_new_folder("interrupted");
  const Result result = run(with_ranks(small({"-n", "1000000", "-J", path}),
                                       {"timeout", "--preserve-status", "-s", "INT", "1"}));
  CAPTURE(result.output);
  CHECK(result.exit_code == 130);
  CHECK(files_beside(path) == 0);
}

TEST_CASE("when a process dies, no file is left, and no other process") {
  if (!is_on_mpi()) return testing::pass_over("one process");
  const std::string path = path_in_new_folder("killed");
  const Words member = with_ranks(small({"-n", "1000000", "-J", path}));
  Words command = member;
  const auto ranks = std::find(command.begin(), command.end(), "3");  // mpirun -n 3
  REQUIRE(ranks != command.end());
  *ranks = "2";
  const auto program = ranks - command.begin() + 1;
  // The third rank is killed after two seconds.
  for (const char* word : {":", "-n", "1", "timeout", "-s", "KILL", "2"})
    command.emplace_back(word);
  command.insert(command.end(), member.begin() + program, member.end());
  const Result result = run(command);
  CAPTURE(result.output);
  CHECK(result.exit_code != 0);
  CHECK(files_beside(path) == 0);
  Result others;
  for (int look = 0; look < 2400 && (look == 0 || others.exit_code == 0); ++look) {
    if (look > 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    others = run({"pgrep", "-f", path});
  }
  CAPTURE(others.output);
  CHECK(others.exit_code == 1);  // there are none
}

TEST_CASE("a full disk is a failure") {
  if (!can_run_without_mpirun()) return;
  std::string line;
  for (const std::string& word : with_ranks(small({}))) line += word + " ";
  const Result result = run({"sh", "-c", line + ">/dev/full"});
  CAPTURE(result.output);
  CHECK(result.exit_code != 0);
}

TEST_CASE("a bandwidth that was asked for and not reached is a failure, with the figures there") {
  if (!can_run()) return;
  const std::string path = path_in_new_folder("slow");
  const Result result = run(with_ranks(small({"-J", path}), {"env", "NCCL_TESTS_MIN_BW=1000000"}));
  CAPTURE(result.output);
  CHECK(result.exit_code == 1);
  CHECK(result.output.find("NCCL_TESTS_MIN_BW") != std::string::npos);
  CHECK(read_json(path).at("average_busbw_gbps").get<double>() > 0);
}

TEST_CASE("a baseline is the native collective again, in a process with a variable set") {
  if (!can_run_without_mpirun()) return;  // rejected there: options_test
  const Result result = run(with_ranks(small({"--baseline", "again:RANKBOX_AGAIN=1", "-J", "-"})));
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  Words algorithms;
  const Json json = Json::parse(result.output);
  for (const Json& row : json.at("results")) algorithms.push_back(row.at("algorithm"));
  CHECK(algorithms ==
        Words{"native", "again", "ring", "native", "again", "ring", "native", "again", "ring"});
  CHECK(json.at("results").at(1).at("bytes") == 1024);
  CHECK(json.at("results").at(1).at("wrong") == 0);
  CHECK(json.at("results").at(1).at("whose") == "native");
}

TEST_CASE("with NCCL between GPUs, its ring is measured beside its defaults") {
  if (variable("RANKBOX_COMPARE").find("nccl") == std::string::npos)
    return testing::pass_over("not NCCL");
  if (!can_run()) return;
  const std::string path = path_in_new_folder("ring");
  const Result result =
      run(with_ranks(small({"--collective", "all_reduce,all_gather", "-o", "avg", "-J", path})));
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  // Ranks that share a GPU use other native collectives, which ignore NCCL_ALGO.
  const bool shared = result.output.find("# 3 ranks share ") != std::string::npos;
  for (const char* part : {"\n  native-ring ", " vs native vs ring "}) {
    CAPTURE(part);
    CHECK((result.output.find(part) != std::string::npos) == !shared);
  }
  const Json json = read_json(path);
  for (const Json& row : json.at("results")) CHECK(row.at("vs_ring").is_number() == !shared);
}

TEST_CASE("without NCCL's ring there is no column for it") {
  if (!can_run_without_mpirun()) return;
  const Result result = run(with_ranks(small({"--baseline", "none"})));
  CHECK(result.exit_code == 0);
  CHECK(result.output.find("vs native ") != std::string::npos);
  CHECK(result.output.find("vs native vs ring") == std::string::npos);
}

TEST_CASE("a baseline that fails is reported, and the rest is measured") {
  if (!can_run_without_mpirun()) return;
  const std::string path = path_in_new_folder("failed_baseline");
  // The loader then lists the program's libraries instead of running it.
  const Result result =
      run(with_ranks(small({"--baseline", "broken:LD_TRACE_LOADED_OBJECTS=1", "-J", path})));
  CAPTURE(result.output);
  CHECK(result.exit_code == 1);
  CHECK(result.output.find("broken") != std::string::npos);
  CHECK(read_json(path).at("results").size() == 6);
}

TEST_CASE("a process that finds no others says so, whichever it is") {
  const std::string program = variable("RANKBOX_COMPARE");
  if (program.find("nccl") == std::string::npos) return testing::pass_over("not NCCL");
  for (const char* rank : {"RANK=0", "RANK=1"}) {
    CAPTURE(rank);
    const Result result = run({"env", "RANKBOX_START_SECONDS=1", rank, "WORLD_SIZE=2",
                               "LOCAL_RANK=0", "MASTER_ADDR=127.0.0.1", "MASTER_PORT=29871",
                               program, "-b", "8", "-e", "8", "--baseline", "none", "-T", "1"});
    CAPTURE(result.output);
    CHECK(result.exit_code == 1);
    CHECK(result.output.find("rankbox-compare-nccl: ") == 0);
    CHECK(result.output.find('\n') == result.output.size() - 1);
  }
}

TEST_CASE("the cluster is the one that is named, else what suits the ranks here") {
  if (!can_run_without_mpirun()) return;
  const std::string program = variable("RANKBOX_COMPARE");
  const bool on_gpus = run({program, "--show-backend"}).output.starts_with("nccl");
  const struct {
    std::vector<std::string> options;
    std::string cluster;
  } rows[] = {{{}, on_gpus ? "one-gpu" : "laptop"}, {{"--cluster", "ethernet"}, "ethernet"}};
  for (const auto& row : rows) {
    const std::string path = path_in_new_folder("cluster");
    std::vector<std::string> words = {"env", "RANKBOX_EMULATED_GPUS=1", "RANKBOX_GPU_MODE=shared",
                                      program};
    for (const char* word : {"--ranks", "2", "-b", "64", "-e", "64", "-n", "1", "-w", "1", "-J"})
      words.emplace_back(word);
    words.push_back(path);
    words.insert(words.end(), row.options.begin(), row.options.end());
    std::vector<std::string> ask = words;
    ask.emplace_back("--show-cluster");
    CHECK(run(ask).output == row.cluster + "\n");
    const Result result = run(words);
    CAPTURE(result.output);
    CHECK(result.exit_code == 0);
    CHECK(read_json(path).at("cluster").at("name") == row.cluster);
  }
}

TEST_CASE("what it is, and which clusters it knows") {
  const std::string program = variable("RANKBOX_COMPARE");
  CHECK(run({program, "--list-clusters"}).output.find("h100-nvlink") != std::string::npos);
  const Result backend = run({program, "--show-backend"});
  CHECK(backend.exit_code == 0);
  CHECK(program.find("rankbox-compare-" + backend.output.substr(0, backend.output.find(':'))) !=
        std::string::npos);
  CHECK(run({program, "--help"}).output.find("Examples:") != std::string::npos);
}

}  // namespace
}  // namespace rankbox::cli
