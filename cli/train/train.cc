#include <algorithm>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/wait.h>

#include "cli/support/child.h"
#include "cli/support/exec.h"
#include "cli/support/mpirun.h"
#include "cli/support/named_file.h"
#include "cli/support/programs.h"
#include "cli/support/subcommands.h"
#include "cli/support/terminal.h"
#include "cli/train/check_arguments.h"
#include "cli/train/help.h"
#include "cli/train/train_files.h"
#include "comm/errors.h"
#include "exercises/registry.h"

namespace rankbox::cli {

namespace {

using Words = std::vector<std::string>;

/// Returns the exercises that the program will call, from the program itself. Invalid arguments are
/// reported here.
Words exercises_called(const std::string& program, const Words& arguments) {
  ChildOptions options;
  options.command = {program, "--exercises"};
  options.command.insert(options.command.end(), arguments.begin(), arguments.end());
  const ChildResult result = run_child(options);
  const int status = WIFEXITED(result.status) ? WEXITSTATUS(result.status) : 1;
  if (result.timed_out || (status != 0 && result.output.empty())) {
    throw Error(fmt::format("{} {}", program,
                            result.timed_out ? "does not answer" : "ended without output"));
  }
  if (status != 0) {
    fmt::print(stderr, "{}", result.output);
    throw CLI::RuntimeError(status);
  }
  std::istringstream lines(result.output);
  Words names;
  for (std::string name; std::getline(lines, name);) {
    if (find_exercise(name) != nullptr) names.push_back(name);  // else a library's warning
  }
  return names;
}

void run_train(Words arguments) {
  const Words backends = take_values("--backend", "choose sim, mpi or nccl", arguments);
  const std::string backend = backends.empty() ? "sim" : backends.back();
  check_backend(backend);
  const bool asks_for_help = std::ranges::any_of(
      arguments, [](const std::string& word) { return word == "--help" || word == "-h"; });
  if (asks_for_help) {
    fmt::print("{}", fit(std::string(kTrainHelp)));
    return;
  }

  const MineOptions mine = take_mine_options(arguments);
  // Building takes minutes.
  check_mine_options(mine);
  check_train_arguments(arguments, kTrainHelp);
  const std::string program = backend_program("train", backend);
  Words command = {program};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const Words called = exercises_called(program, arguments);
  for (const NamedFile& file : prepare_mine(mine, called, backend))
    command.insert(command.end(), {"--mine-library", file.name + "=" + file.file});
  if (backend != "mpi") replace_process(command);
  // The program has validated the number.
  const Words ranks = take_values("--ranks", "give a number", arguments);
  throw CLI::RuntimeError(
      run_attached(mpirun_command(ranks.empty() ? 1 : std::stoi(ranks.back()), command)));
}

}  // namespace

void add_train(CLI::App& app) {
  CLI::App* train = app.add_subcommand(
      "train",
      "trains a model on one rank or many, in the sandbox, under MPI or on GPUs; --help shows how");
  // The program has separate options and help.
  train->prefix_command();
  train->set_help_flag();
  train->callback([train] { run_train(train->remaining()); });
}

}  // namespace rankbox::cli
