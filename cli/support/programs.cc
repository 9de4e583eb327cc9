#include "cli/support/programs.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/support/container.h"
#include "cli/support/exec.h"
#include "cli/support/paths.h"
#include "comm/errors.h"

namespace rankbox::cli {

namespace fs = std::filesystem;

namespace {

/// Runs the script in this process's group, so that Ctrl-C reaches the build. Returns its status in
/// a shell's encoding.
int run_script(const std::vector<std::string>& command) {
  const std::vector<char*> words = pointers_to(command);
  pid_t child = 0;
  const int error = posix_spawn(&child, words.front(), nullptr, nullptr, words.data(), environ);
  if (error != 0) {
    throw Error(fmt::format("cannot run {}: {}", command.front(), std::strerror(error)));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return exit_code_of(status);
}

/// Returns the path of the program `name`, which the script builds.
/// @param words of its --build-program
std::string built_program(const std::vector<std::string>& words, const std::string& name) {
  std::fflush(stdout);
  std::vector<std::string> command = {project_root() + "/rankbox", "--build-program"};
  command.insert(command.end(), words.begin(), words.end());
  const int status = run_script(command);
  if (status != 0) throw CLI::RuntimeError(status);
  return fmt::format("{}/.rankbox/bin/{}", project_root(), name);
}

char** arguments = nullptr;  // of main(), set before any thread starts

}  // namespace

void check_backend(const std::string& backend) {
  if (backend != "sim" && backend != "mpi" && backend != "nccl")
    throw InvalidArgument(fmt::format("--backend {}: choose sim, mpi or nccl", backend));
}

std::string backend_program(const std::string& subcommand, const std::string& backend,
                            bool for_another_machine) {
  std::vector<std::string> words = {subcommand, backend};
  if (for_another_machine) words.emplace_back("--bundle");
  return built_program(words, fmt::format("rankbox-{}-{}", subcommand, backend));
}

void hand_over_with(char** argv) { arguments = argv; }

void use_rankbox_more(const std::function<void()>& before) {
  if (arguments == nullptr) return;
  if (before) before();
  // The script keeps both in .rankbox/bin; Bazel builds one beside the other.
  const fs::path here = fs::path(own_path()).parent_path();
  const bool has_script = here == fs::path(project_root()) / ".rankbox/bin";
  const std::string program =
      has_script ? built_program({"more"}, "rankbox-more") : (here / "rankbox-more").string();
  std::fflush(stdout);
  execv(program.c_str(), arguments);
  throw Error(fmt::format("cannot run {}: {}", program, std::strerror(errno)));
}

}  // namespace rankbox::cli
