// The program as run by a user: exit codes, output, remaining files, and recovery after a kill.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/support/child.h"
#include "files/temporary_folder.h"
#include "tests/support/run_tests.h"

namespace rankbox::train {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using Json = nlohmann::json;

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

bool is_on_mpi() { return !variable("RANKBOX_LAUNCHER").empty(); }
bool is_on_gpus() { return variable("RANKBOX_TRAIN").ends_with("nccl"); }

/// Returns a command for three ranks, as the BUILD file specifies: a small MLP, 20 steps per epoch.
Words with_ranks(const Words& options) {
  Words command = split(variable("RANKBOX_LAUNCHER"));
  command.push_back(variable("RANKBOX_TRAIN"));
  for (const std::string& word : split(variable("RANKBOX_RANKS"))) command.push_back(word);
  for (const char* word : {"--samples", "600", "--batch", "30"}) command.emplace_back(word);
  command.insert(command.end(), options.begin(), options.end());
  return command;
}

struct Result {
  int exit_code = 0;
  std::string output;
};

Result run(const Words& command) {
  cli::ChildOptions options;
  options.command = command;
  options.seconds = 50;
  options.file_bytes = std::int64_t{1} << 40;
  const cli::ChildResult result = cli::run_child(options);
  CHECK_FALSE(result.timed_out);
  return {WIFSIGNALED(result.status) ? 128 + WTERMSIG(result.status) : WEXITSTATUS(result.status),
          result.output};
}

/// Starts the command, and discards its output.
pid_t start(const Words& command) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int nothing = open("/dev/null", O_RDWR);
  for (const int fd : {0, 1, 2}) dup2(nothing, fd);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

/// Returns the exit code as run() does. Kills a process that is not done after `seconds`.
int wait_for(pid_t pid, double seconds = 50) {
  int status = 0;
  for (double waited = 0; waitpid(pid, &status, WNOHANG) == 0; waited += 0.01) {
    if (waited > seconds) kill(pid, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool wait_for_file(const std::string& path) {
  for (int look = 0; look < 2000 && !fs::exists(path); ++look)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return fs::exists(path);
}

int count(const std::string& text, const std::string& part) {
  int times = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++times;
  return times;
}

/// Returns the number of files in the folder of a file.
int files_beside(const std::string& path) {
  int files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(fs::path(path).parent_path()))
    ++files;
  return files;
}

/// Returns the JSON object in the output, which may also hold a launcher's messages.
Json object_in(const std::string& output) {
  const std::size_t begin = output.find('{');
  REQUIRE(begin != std::string::npos);
  return Json::parse(output.substr(begin, output.find('\n', begin) - begin));
}

TEST_CASE("ranks train together, and rank 0 alone prints") {
  const Result result = run(with_ranks({"--epochs", "2", "--no-timeline"}));
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  CHECK(count(result.output, "ddp on 3 ranks") == 1);
  for (const char* line :
       {"epoch 1/2  step 4/20 ", "epoch 1/2  step 20/20 ", "epoch 2/2  step 8/20 ",
        "epoch 1/2: loss ", "epoch 2/2: loss ", "\ntest accuracy ", " of 2000;"}) {
    CAPTURE(line);
    CHECK(count(result.output, line) == (std::string(line) == " of 2000;" ? 2 : 1));
  }
  CHECK(count(result.output, "/20  loss ") == 10);
  CHECK(count(result.output, "step 40\n") == 1);  // under the curve
  CHECK(result.output.find('\r') == std::string::npos);
  CHECK(result.output.find('\033') == std::string::npos);
}

TEST_CASE("--json is one object, the same twice, and the loss falls; --log has a line a step") {
  const TemporaryFolder folder;
  const std::string log = folder.path("log");
  const Result result = run(with_ranks({"--epochs", "4", "--json", "--log", log}));
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  CHECK(count(result.output, "\n") == 1);
  const Json json = object_in(result.output);
  CHECK(json.at("ranks") == 3);
  CHECK(json.at("strategy") == "ddp");
  CHECK(json.at("status") == "complete");
  CHECK(json.at("steps") == 80);
  CHECK(json.at("epochs").size() == 4);
  CHECK(json.at("test").at("samples") == 2000);
  CHECK(json.at("f1") > 0);
  std::ifstream lines(log);
  CHECK(std::count(std::istreambuf_iterator<char>(lines), {}, '\n') == 80);
  const auto losses = json.at("losses").get<std::vector<double>>();
  REQUIRE(losses.size() == 80);
  CHECK(losses.back() < 0.7 * losses.front());
  const Json again = object_in(run(with_ranks({"--epochs", "4", "--json"})).output);
  CHECK(again.at("parameters_digest") == json.at("parameters_digest"));
  CHECK(again.at("losses") == json.at("losses"));
}

TEST_CASE("a learner's library replaces the reference's function, and the loss shows it") {
  const Words options = {"--epochs", "1", "--json"};
  const Json reference = object_in(run(with_ranks(options)).output);
  // LD_PRELOAD would split this path into three.
  const TemporaryFolder folder;
  const std::string library = folder.path("a b:c.so");
  fs::copy_file(variable("RANKBOX_SUMMING"), library);
  Words mine = options;
  for (const std::string& word :
       {std::string("--mine-library"), "ddp_average_gradients=" + library})
    mine.push_back(word);
  const Json sums = object_in(run(with_ranks(mine)).output);
  CHECK(reference.at("yours").empty());
  CHECK(sums.at("yours") == Json::array({"ddp_average_gradients"}));
  CHECK(sums.at("losses")[0] == reference.at("losses")[0]);
  CHECK(sums.at("losses") != reference.at("losses"));
}

TEST_CASE("a library that is none is one line, and nothing is trained") {
  const std::pair<const char*, int> table[] = {{"zero1=/no/such.so", 1}, {"zero1", 2}, {"=x", 2}};
  for (const auto& [value, exit_code] : table) {
    const Result result = run(with_ranks({"--mine-library", value}));
    CAPTURE(result.output);
    CHECK(result.exit_code == exit_code);
    CHECK(count(result.output, "rankbox train: ") == 1);
    CHECK(result.output.find("step ") == std::string::npos);
  }
}

TEST_CASE("--quiet prints the result alone") {
  const Result result = run(with_ranks({"--epochs", "1", "--quiet"}));
  CAPTURE(result.output);
  CHECK(result.output.find("test accuracy ") == 0);
  CHECK(count(result.output, "\n") == 2);
}

TEST_CASE("a mistake is one line and exit code 2, before anything is trained") {
  const Words table[] = {{"--batch", "2"},
                         {"--batch", "10"},
                         {"--samples", "2"},
                         {"--strategy", "zero9"},
                         {"--strategy", "single"},
                         {"--node-rank", "0"},
                         {"--data", "/no/such"},
                         {"--save", "/no/such/folder/run.ckpt"},
                         {"--learning-rate", "-1"},
                         {"--resume"},
                         {"--resume", "--save", "/no-such.ckpt"}};
  for (const Words& mistake : table) {
    CAPTURE(mistake[0]);
    CAPTURE(mistake.back());
    // mpirun is slow to end. Some of these are rejected before the rendezvous, some after.
    if (is_on_mpi() && mistake[0] != "--strategy" && mistake[0] != "--data" &&
        mistake[0] != "--resume") {
      continue;
    }
    const Result result = run(with_ranks(mistake));
    CAPTURE(result.output);
    CHECK(result.exit_code == 2);
    CHECK(count(result.output, "rankbox train: ") == 1);
    CHECK(result.output.find("step ") == std::string::npos);
    // mpirun prints lines, too.
    if (!is_on_mpi()) CHECK(count(result.output, "\n") == 1);
  }
}

TEST_CASE("what MPI leaves to mpirun is refused with the mpirun line") {
  if (!is_on_mpi()) return testing::pass_over("one process");
  const Result nodes = run(with_ranks({"--nodes", "2"}));
  CHECK(nodes.exit_code == 2);
  CHECK(nodes.output.find("mpirun --host") != std::string::npos);
  CHECK(run(with_ranks({"--ranks", "2"})).output.find("--ranks 2") != std::string::npos);
  CHECK(run(with_ranks({"--timeline"})).output.find("--timeline") != std::string::npos);
}

TEST_CASE("on GPUs ranks may share one, and what cannot run there is one line") {
  if (!is_on_gpus()) return testing::pass_over("no GPUs");
  const Words program = with_ranks({"--epochs", "1", "--no-timeline"});
  const auto with = [&](const Words& before, const Words& after) {
    Words command = {"env"};
    for (const Words& part : {before, program, after})
      command.insert(command.end(), part.begin(), part.end());
    return run(command);
  };
  const Result shared = with({"RANKBOX_GPU_MODE=shared", "RANKBOX_EMULATED_GPUS=1"}, {});
  CAPTURE(shared.output);
  CHECK(shared.exit_code == 0);
  CHECK(shared.output.find("threads that share ") != std::string::npos);
  CHECK(shared.output.find("test accuracy ") != std::string::npos);

  const struct {
    Words before, after;
    const char* part;
    int exit_code;
  } table[] = {{{"RANKBOX_EMULATED_GPUS=0", "CUDA_VISIBLE_DEVICES="}, {}, "nvidia-smi", 1},
               {{}, {"--nodes", "2"}, "torchrun ", 2},
               {{}, {"--cluster", "laptop"}, "--cluster laptop", 2},
               {{}, {"--timeline"}, "--timeline", 2}};
  for (const auto& row : table) {
    const Result result = with(row.before, row.after);
    CAPTURE(result.output);
    CHECK(result.exit_code == row.exit_code);
    CHECK(result.output.find(row.part) != std::string::npos);
    CHECK(result.output.find("rankbox train: ") == 0);
    CHECK(count(result.output, "\n") == 1);
  }
}

TEST_CASE("killed at any moment, again and again, it ends with the bits of a run that was not") {
  const TemporaryFolder folder;
  const std::string file = folder.path("run.ckpt");
  const Words options = {"--epochs", "4", "--save-every", "3", "--save"};
  const auto command = [&](const std::string& path, const Words& more) {
    Words all = options;
    all.push_back(path);
    all.insert(all.end(), more.begin(), more.end());
    return with_ranks(all);
  };
  const Json whole = object_in(run(command(folder.path("whole.ckpt"), {"--json"})).output);
  REQUIRE(whole.at("status") == "complete");
  fs::remove(folder.path("whole.ckpt"));

  std::mt19937 random(7);
  // After the first checkpoint: without one, a run starts from scratch.
  std::uniform_int_distribution<int> milliseconds(0, 250);
  int killed = 0;
  for (int round = 0; round < (is_on_mpi() || is_on_gpus() ? 2 : 5); ++round) {
    const bool has_file = fs::exists(file);
    const pid_t pid = start(command(file, has_file ? Words{"--resume"} : Words{}));
    REQUIRE(wait_for_file(file));
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds(random)));
    kill(pid, SIGKILL);
    if (wait_for(pid) == 128 + SIGKILL) ++killed;
    if (is_on_mpi())
      std::this_thread::sleep_for(std::chrono::milliseconds(500));  // its ranks end, too
  }
  CHECK(killed > 0);
  const Result result = run(command(file, {"--resume", "--json"}));
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  const Json resumed = object_in(result.output);
  CHECK(resumed.at("first_step") > 0);
  CHECK(resumed.at("steps") == 80);
  CHECK(resumed.at("parameters_digest") == whole.at("parameters_digest"));
  CHECK(resumed.at("test") == whole.at("test"));
}

TEST_CASE("asked to stop, it saves behind the step, and goes on from there to the same bits") {
  const TemporaryFolder folder;
  const std::string file = folder.path("run.ckpt");
  const Json whole = object_in(run(with_ranks({"--epochs", "12", "--json"})).output);
  // mpirun kills all ranks a second after the other signals; it forwards this one.
  const std::vector<int> signals =
      is_on_mpi() ? std::vector{SIGUSR1} : std::vector{SIGINT, SIGTERM};
  for (const int signal : signals) {
    fs::remove(file);
    const pid_t pid = start(with_ranks({"--epochs", "12", "--save", file, "--save-every", "1"}));
    REQUIRE(wait_for_file(file));
    kill(pid, signal);
    const int exit_code = wait_for(pid);
    CHECK(exit_code == 128 + (is_on_mpi() ? SIGINT : signal));
    CHECK(files_beside(file) == 1);
    const Result result = run(with_ranks({"--epochs", "12", "--save", file, "--resume", "--json"}));
    CAPTURE(result.output);
    CHECK(result.exit_code == 0);
    const Json resumed = object_in(result.output);
    CHECK(resumed.at("first_step") > 0);
    CHECK(resumed.at("first_step") < 240);
    CHECK(resumed.at("parameters_digest") == whole.at("parameters_digest"));
  }
}

TEST_CASE("--resume says what is different, also where nothing else is printed") {
  const TemporaryFolder folder;
  const Words save = {"--save", folder.path("run.ckpt"), "--json"};
  CHECK(run(with_ranks({"--epochs", "1", save[0], save[1]})).exit_code == 0);
  const Result result = run(with_ranks(
      {"--epochs", "2", "--resume", "--learning-rate", "0.0125", save[0], save[1], save[2]}));
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  CHECK(count(result.output, "learning rate 0.0125") == 1);
  CHECK(object_in(result.output).at("steps") == 40);
}

TEST_CASE("asked twice, it ends at once") {
  if (is_on_mpi()) return testing::pass_over("mpirun does this");
  const TemporaryFolder folder;
  const std::string file = folder.path("run.ckpt");
  const pid_t pid = start(with_ranks({"--model", "convnet", "--batch", "600", "--epochs", "1000",
                                      "--save", file, "--save-every", "1"}));
  REQUIRE(wait_for_file(file));  // inside a step of a good part of a second
  kill(pid, SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  kill(pid, SIGINT);
  const auto asked = std::chrono::steady_clock::now();
  const int exit_code = wait_for(pid);
  CHECK(exit_code == 128 + SIGINT);
  CHECK(std::chrono::steady_clock::now() - asked < std::chrono::seconds(5));
}

TEST_CASE("when nothing reads its output any more, it saves and ends") {
  if (is_on_mpi()) return testing::pass_over("mpirun reads the output");
  for (const std::string more : {"", "--quiet"}) {
    CAPTURE(more);
    const TemporaryFolder folder;
    const std::string file = folder.path("run.ckpt");
    std::string line;
    for (const std::string& word : with_ranks({"--epochs", "100000", "--save", file, more}))
      line += word + " ";
    const std::string status = folder.path("status");
    const Result result =
        run({"sh", "-c", "{ " + line + "; echo $? >" + status + "; } | true; cat " + status});
    CAPTURE(result.output);
    CHECK(fs::exists(file));
    CHECK(cli::last_line(result.output) != "0");
  }
}

TEST_CASE("a full disk is a failure") {
  if (is_on_mpi()) return testing::pass_over("mpirun does the writing");
  for (const char* last : {"--timeline", "--no-timeline", "--quiet"}) {
    if (is_on_gpus() && std::string(last) == "--timeline") continue;
    CAPTURE(last);
    std::string line;
    for (const std::string& word : with_ranks({"--epochs", "1", last})) line += word + " ";
    const Result result = run({"sh", "-c", line + ">/dev/full"});
    CAPTURE(result.output);
    CHECK(result.exit_code == 1);
    CHECK(count(result.output, "standard output") == 1);
  }
}

}  // namespace
}  // namespace rankbox::train
