// How the program ends: killed, asked by signals, or without a reader of its output.
#include <chrono>
#include <csignal>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include "cli/train/program_runs.h"
#include "files/temporary_folder.h"
#include "tests/support/run_tests.h"

namespace rankbox::train {
namespace {

TEST_CASE("killed at any moment, again and again, it ends with the bits of an undisturbed run") {
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
  for (int killed = 0; killed < (is_on_mpi() || is_on_gpus() ? 2 : 5);) {
    const bool has_file = fs::exists(file);
    const pid_t pid = start(command(file, has_file ? Words{"--resume"} : Words{}));
    REQUIRE(wait_for_file(file));
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds(random)));
    kill(pid, SIGKILL);
    if (wait_for(pid) == 128 + SIGKILL) {
      ++killed;
    } else {
      fs::remove(file);  // it was done before
    }
    // The ranks of a killed mpirun end, too.
    if (is_on_mpi()) REQUIRE(comes_true([&] { return run({"pgrep", "-f", file}).exit_code != 0; }));
  }
  const Result result = run(command(file, {"--resume", "--json"}));
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  const Json resumed = object_in(result.output);
  CHECK(resumed.at("first_step") > 0);
  CHECK(resumed.at("steps") == 80);
  CHECK(resumed.at("parameters_digest") == whole.at("parameters_digest"));
  CHECK(resumed.at("test") == whole.at("test"));
}

TEST_CASE("asked to stop, it saves after the step, and a resumed run ends with the same bits") {
  const TemporaryFolder folder;
  const std::string file = folder.path("run.ckpt");
  const Json whole = object_in(run(with_ranks({"--epochs", "12", "--json"})).output);
  // mpirun kills all ranks a second after the other signals; it forwards this one.
  const std::vector<int> signals =
      is_on_mpi() ? std::vector{SIGUSR1} : std::vector{SIGINT, SIGTERM};
  for (const int signal : signals) {
    int exit_code = 0;  // that of a run that was done before the signal came
    for (int attempt = 0; attempt < 10 && exit_code == 0; ++attempt) {
      fs::remove(file);
      const pid_t pid = start(with_ranks({"--epochs", "12", "--save", file, "--save-every", "1"}));
      REQUIRE(wait_for_file(file));
      kill(pid, signal);
      exit_code = wait_for(pid);
    }
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

TEST_CASE("asked twice, it ends at once") {
  if (is_on_mpi()) return testing::pass_over("mpirun does this");
  // Its first line does not fit into the full pipe: only a signal ends it.
  int out[2];
  REQUIRE(pipe2(out, O_CLOEXEC) == 0);
  const std::string filler(static_cast<std::size_t>(fcntl(out[1], F_GETPIPE_SZ)), '.');
  REQUIRE(write(out[1], filler.data(), filler.size()) == static_cast<ssize_t>(filler.size()));
  const pid_t pid = start(with_ranks({}), out[1]);
  REQUIRE(comes_true([&] { return handles(pid, SIGUSR1); }));  // doctest handles SIGINT itself
  kill(pid, SIGINT);
  CHECK(comes_true([&] { return !handles(pid, SIGINT); }));  // the handler runs once
  kill(pid, SIGINT);
  CHECK(wait_for(pid) == 128 + SIGINT);
  for (const int fd : out) close(fd);
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

}  // namespace
}  // namespace rankbox::train
