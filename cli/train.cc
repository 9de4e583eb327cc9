#include "cli/train.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/paths.h"
#include "comm/errors.h"

namespace rankbox::cli {

namespace {

[[noreturn]] void run_train(const std::vector<std::string>& arguments) {
  std::string script = project_root() + "/rankbox";
  std::string subcommand = "train";
  std::vector<char*> words = {script.data(), subcommand.data()};
  for (const std::string& argument : arguments)
    words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  execv(script.c_str(), words.data());
  throw Error(fmt::format("cannot run {}: {}", script, std::strerror(errno)));
}

}  // namespace

void add_train(CLI::App& app) {
  CLI::App* train = app.add_subcommand(
      "train", "trains a model on one rank or many, in the sandbox or under MPI; --help shows how");
  // The program has its own options and help.
  train->prefix_command();
  train->set_help_flag();
  train->callback([train] { run_train(train->remaining()); });
}

}  // namespace rankbox::cli
