#include "tests/mpi/failing_run.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <thread>

#include <doctest/doctest.h>
#include <unistd.h>

#include "cli/support/child.h"
#include "cli/support/exec.h"
#include "tests/support/thrown.h"

namespace rankbox::testing {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

/// The program, under a unique name.
class Program {
 public:
  Program() {
    fs::copy_file(environment("RANKBOX_FAILING_PROGRAM", "tests/mpi/failing_program"), path,
                  fs::copy_options::overwrite_existing);
  }
  ~Program() {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const std::string path = fs::path(folder()) / ("failing_" + std::to_string(getpid()));
};

}  // namespace

std::string folder() { return environment("TEST_TMPDIR", "/tmp"); }

const std::string& program() {
  static const Program made;
  return made.path;
}

std::vector<int> survivors() {
  std::vector<int> found;
  for (const fs::directory_entry& process : fs::directory_iterator("/proc")) {
    std::ifstream file(process.path() / "cmdline");
    std::string command;
    std::getline(file, command, '\0');
    if (command == program()) found.push_back(std::atoi(process.path().filename().c_str()));
  }
  return found;  // a zombie's command is empty
}

bool all_are_gone() {
  for (int i = 0; i < 1200; ++i) {
    if (survivors().empty()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  for (const pid_t pid : survivors()) kill(pid, SIGKILL);
  return false;
}

std::vector<std::string> mpirun(int processes, const std::vector<std::string>& arguments) {
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
  setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 1);
  setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
  setenv("TMPDIR", "/tmp", 1);  // the paths of its sockets must be short
  std::vector<std::string> command = {"mpirun", "-n", std::to_string(processes), program()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

Ending run(const std::vector<std::string>& command) {
  cli::ChildOptions options;
  options.command = command;
  options.seconds = 300;  // a hang
  options.file_bytes = std::int64_t{1} << 30;
  std::fflush(nullptr);
  const cli::ChildResult result = cli::run_child(options);
  CHECK_FALSE(result.timed_out);
  return {cli::exit_code_of(result.status), result.output};
}

Report report_in(const std::string& output) {
  Report report;
  std::istringstream in(output);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first == "at") {
      words >> report.lines.emplace_back();
    } else if (first == "failure") {
      ++report.count;
      words >> report.name;
    } else if (line.starts_with("rank ") && contains(line, ", op ")) {
      report.rank = std::stoi(line.substr(5));
      const std::size_t op = line.find(", op ") + 5;
      const std::size_t peer = line.find(", peer ");
      report.op = line.substr(op, peer - op);
      report.peer = std::stoi(line.substr(peer + 7));
    } else if (first == "rankbox:") {
      report.text = line;
    }
  }
  return report;
}

}  // namespace rankbox::testing
