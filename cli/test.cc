#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/support/paths.h"
#include "cli/support/subcommands.h"
#include "comm/errors.h"

namespace rankbox::cli {

namespace {

[[noreturn]] void run_tests(const std::vector<std::string>& arguments) {
  std::string script = project_root() + "/bazel/run_all_tests.sh";
  std::vector<char*> words = {script.data()};
  for (const std::string& argument : arguments)
    words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  execv(script.c_str(), words.data());
  throw Error(fmt::format("cannot run {}: {}", script, std::strerror(errno)));
}

}  // namespace

void add_test(CLI::App& app) {
  CLI::App* test = app.add_subcommand("test", "runs all tests; --help shows how");
  // The script has separate options and help.
  test->prefix_command();
  test->set_help_flag();
  test->callback([test] { run_tests(test->remaining()); });
}

}  // namespace rankbox::cli
