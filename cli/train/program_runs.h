// Runs of the program as a user starts it, and waits for what it does.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
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
#include "cli/support/exec.h"

namespace rankbox::train {
namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using Json = nlohmann::json;

inline std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

inline Words split(const std::string& text) {
  std::istringstream stream(text);
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

inline bool is_on_mpi() { return !variable("RANKBOX_LAUNCHER").empty(); }
inline bool is_on_gpus() { return variable("RANKBOX_TRAIN").ends_with("nccl"); }

/// Returns a command for three ranks, as the BUILD file specifies: a small MLP, 20 steps per epoch.
inline Words with_ranks(const Words& options) {
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

inline Result run(const Words& command) {
  cli::ChildOptions options;
  options.command = command;
  options.seconds = 240;  // a hang
  options.file_bytes = std::int64_t{1} << 40;
  const cli::ChildResult result = cli::run_child(options);
  CHECK_FALSE(result.timed_out);
  return {cli::exit_code_of(result.status), result.output};
}

/// Starts the command, and discards its output except to `out`, if given.
inline pid_t start(const Words& command, int out = -1) {
  const std::vector<char*> arguments = cli::pointers_to(command);
  const pid_t pid = fork();
  if (pid != 0) return pid;
  const int nothing = open("/dev/null", O_RDWR);
  for (const int fd : {0, 1, 2}) dup2(nothing, fd);
  if (out >= 0) dup2(out, 1);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

/// Returns false if the condition stays false for four minutes: a hang.
inline bool comes_true(const std::function<bool()>& condition) {
  for (int look = 0; look < 24'000; ++look) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

/// Returns the exit code as run() does. Kills a process that hangs.
inline int wait_for(pid_t pid) {
  int status = 0;
  if (!comes_true([&] { return waitpid(pid, &status, WNOHANG) != 0; })) {
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
  }
  return cli::exit_code_of(status);
}

inline bool wait_for_file(const std::string& path) {
  return comes_true([&] { return fs::exists(path); });
}

/// Returns whether the process has a handler for the signal.
inline bool handles(pid_t pid, int signal) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("SigCgt:"))
      return (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1) != 0;
  }
  return false;
}

inline int count(const std::string& text, const std::string& part) {
  int times = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++times;
  return times;
}

/// Returns the number of files in the folder of a file.
inline int files_beside(const std::string& path) {
  int files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(fs::path(path).parent_path()))
    ++files;
  return files;
}

/// Returns the JSON object in the output, which may also hold a launcher's messages.
inline Json object_in(const std::string& output) {
  const std::size_t begin = output.find('{');
  REQUIRE(begin != std::string::npos);
  return Json::parse(output.substr(begin, output.find('\n', begin) - begin));
}

}  // namespace rankbox::train
