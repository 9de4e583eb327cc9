#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/support/exec.h"
#include "cli/support/paths.h"
#include "cli/support/subcommands.h"

namespace rankbox::cli {

namespace {

[[noreturn]] void run_tests(const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {project_root() + "/bazel/run_all_tests.sh"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  replace_process(command);
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
