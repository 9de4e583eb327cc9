// The command line: registers the subcommands and prints errors.
//
// Each subcommand has a separate file. Every error is one line on stderr. Exit codes: 2 for a user
// error, 130 for Ctrl-C, 1 for a failed check or any other failure.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/compare/compare.h"
#include "cli/demo/demo.h"
#include "cli/dev/dev.h"
#include "cli/exercise/check.h"
#include "cli/exercise/hint.h"
#include "cli/exercise/judge.h"
#include "cli/exercise/list.h"
#include "cli/exercise/next.h"
#include "cli/exercise/referee.h"
#include "cli/exercise/reset.h"
#include "cli/exercise/show.h"
#include "cli/exercise/watch.h"
#include "cli/gpu/gpu.h"
#include "cli/grade/grade.h"
#include "cli/plugin/compile_commands.h"
#include "cli/race/race.h"
#include "cli/run/inside.h"
#include "cli/run/run.h"
#include "cli/support/child.h"
#include "cli/support/complain.h"
#include "cli/support/course.h"
#include "cli/support/empty_values.h"
#include "cli/support/nearest.h"
#include "cli/support/paths.h"
#include "cli/support/wrap.h"
#include "cli/test.h"
#include "cli/train/train.h"
#include "comm/errors.h"

namespace {

int complain(std::string_view what, int exit_code) {
  return rankbox::cli::complain("rankbox", what, exit_code);
}

/// Returns the fix that ends an error of the command line.
/// @param typed its first word
std::string fix_for(const CLI::App& app, const std::string& typed) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  if (!chosen.empty()) return fmt::format("see ./rankbox {} --help", chosen.front()->get_name());
  std::vector<std::string> names;
  for (const CLI::App* subcommand : app.get_subcommands([](const CLI::App* each) {
         return !each->get_group().empty();  // not hidden
       })) {
    names.push_back(subcommand->get_name());
  }
  const std::vector<std::string> near = rankbox::cli::nearest_of(typed, names, 2);
  return fmt::format("{}choose one of {}, or see ./rankbox --help",
                     near.empty() ? "" : fmt::format("did you mean {}? or ", near.front()),
                     fmt::join(names, ", "));
}

/// Returns the error for what the subcommand does not take.
std::string unknown_in_words(const CLI::App& app) {
  const std::vector<std::string> unknown = app.remaining(/*recurse=*/true);
  const auto option =
      std::ranges::find_if(unknown, [](const std::string& word) { return word.starts_with('-'); });
  if (option == unknown.end()) return fmt::format("unexpected: {}", fmt::join(unknown, " "));
  const CLI::App& command = app.get_subcommands().empty() ? app : *app.get_subcommands().front();
  std::vector<std::string> names;
  for (const CLI::Option* each : command.get_options()) {
    for (const std::string& name : each->get_lnames()) names.push_back("--" + name);
  }
  const std::string typed = option->substr(0, option->find('='));
  const std::vector<std::string> near = rankbox::cli::nearest_of(typed, names, 2);
  return fmt::format("there is no option {}{}", typed,
                     near.empty() ? "" : fmt::format("; did you mean {}?", near.front()));
}

/// Returns whether there is such a subcommand, hidden ones included.
bool is_subcommand(const CLI::App& app, const std::string& name) {
  return !app.get_subcommands([&](const CLI::App* each) { return each->get_name() == name; })
              .empty();
}

/// Returns whether ./rankbox was called by a user, and not by itself.
bool is_a_users_call(const CLI::App& app, const std::string& typed) {
  if (std::getenv("RANKBOX_ROOT") == nullptr) return false;  // the script sets it
  return app
      .get_subcommands([&](const CLI::App* each) {
        return each->get_name() == typed && each->get_group().empty();  // hidden
      })
      .empty();
}

int run(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const std::string typed = arguments.empty() ? "" : arguments.front();
  CLI::App app("Distributed training from the inside.", "rankbox");
  app.set_version_flag("--version", "rankbox 0.1");
  app.set_help_all_flag("--help-all", "Print the help of all subcommands and exit");
  app.footer("Example:\n  ./rankbox check broadcast_ring\nWithout a subcommand: where you are.");
  app.require_subcommand(0, 1);
  rankbox::cli::use_course("");
  rankbox::cli::add_course(app);
  rankbox::cli::add_demo(app);
  rankbox::cli::add_list(app);
  rankbox::cli::add_next(app);
  rankbox::cli::add_check(app);
  rankbox::cli::add_watch(app);
  rankbox::cli::add_hint(app);
  rankbox::cli::add_reset(app);
  rankbox::cli::add_show(app);
  rankbox::cli::add_run(app);
  rankbox::cli::add_compare(app);
  rankbox::cli::add_compare_worker(app);
  rankbox::cli::add_gpu(app);
  rankbox::cli::add_grade(app);
  rankbox::cli::add_race(app);
  rankbox::cli::add_train(app);
  rankbox::cli::add_test(app);
  rankbox::cli::add_dev(app);
  rankbox::cli::add_judge(app);
  rankbox::cli::add_referee(app);
  rankbox::cli::add_run_library(app);
  rankbox::cli::refuse_empty_values(app, arguments);
  // Else the parser takes a later word for the subcommand: `chek race` would be a mistake of race.
  if (!typed.empty() && !typed.starts_with('-') && !is_subcommand(app, typed)) {
    return complain(fmt::format("there is no command {} ({})", typed, fix_for(app, typed)), 2);
  }
  if (is_a_users_call(app, typed)) rankbox::cli::renew_compile_commands();
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) rankbox::cli::print_overview();
    return 0;
  } catch (const CLI::RuntimeError& error) {  // a subcommand that ran and failed
    return error.get_exit_code();
  } catch (const CLI::Success& asked_for_help) {
    std::ostringstream help;
    const int code = app.exit(asked_for_help, help, help);
    fmt::print("{}", rankbox::cli::fit(help.str()));
    return code;
  } catch (const CLI::ConversionError& error) {
    return complain(fmt::format("{}, expected a number ({})", error.what(), fix_for(app, typed)),
                    2);
  } catch (const CLI::ExtrasError&) {
    return complain(fmt::format("{} ({})", unknown_in_words(app), fix_for(app, typed)), 2);
  } catch (const CLI::ParseError& error) {
    return complain(fmt::format("{} ({})", error.what(), fix_for(app, typed)), 2);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int status = run(argc, argv);
    // A full disk or a closed pipe is a failure too.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      return complain("cannot write to standard output", 1);
    return status;
  } catch (const rankbox::cli::Interrupted& interrupted) {
    return 128 + interrupted.signal();
  } catch (const rankbox::InvalidArgument& mistake) {
    return complain(mistake.what(), 2);
  } catch (const std::exception& error) {
    return complain(error.what(), 1);
  }
}
