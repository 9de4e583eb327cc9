#include "cli/command_line.h"

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

#include "cli/exercise/list.h"
#include "cli/plugin/compile_commands.h"
#include "cli/support/child.h"
#include "cli/support/complain.h"
#include "cli/support/options.h"
#include "cli/support/paths.h"
#include "cli/support/programs.h"
#include "cli/support/terminal.h"
#include "comm/errors.h"

namespace rankbox::cli {

namespace {

int complain(std::string_view what, int exit_code) {
  return cli::complain("rankbox", what, exit_code);
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
  const std::vector<std::string> near = nearest_of(typed, names, 2);
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
  const std::vector<std::string> near = nearest_of(typed, names, 2);
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

int run(int argc, char** argv, void (*add_subcommands)(CLI::App&)) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const std::string typed = arguments.empty() ? "" : arguments.front();
  CLI::App app("Distributed training from the inside.", "rankbox");
  app.set_version_flag("--version", "rankbox 0.1");
  app.set_help_all_flag("--help-all", "Print the help of all subcommands and exit");
  app.footer("Example:\n  ./rankbox check broadcast_ring\nWithout a subcommand: where you are.");
  app.require_subcommand(0, 1);
  use_course("");
  add_course(app);
  add_subcommands(app);
  refuse_empty_values(app, arguments);
  // Else the parser takes a later word for the subcommand: `chek race` would be a mistake of race.
  if (!typed.empty() && !typed.starts_with('-') && !is_subcommand(app, typed)) {
    return complain(fmt::format("there is no command {} ({})", typed, fix_for(app, typed)), 2);
  }
  if (is_a_users_call(app, typed)) renew_compile_commands();
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) print_overview();
    return 0;
  } catch (const CLI::RuntimeError& error) {  // a subcommand that ran and failed
    return error.get_exit_code();
  } catch (const CLI::Success& asked_for_help) {
    if (asked_for_help.get_name() == "CallForAllHelp") use_rankbox_more();
    std::ostringstream help;
    const int code = app.exit(asked_for_help, help, help);
    fmt::print("{}", fit(help.str()));
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

void add_elsewhere(CLI::App& app, const char* name, const char* description) {
  CLI::App* const command = app.add_subcommand(name, description);
  command->prefix_command();
  command->set_help_flag();
  command->callback([] { use_rankbox_more(); });
}

int run_command_line(int argc, char** argv, void (*add_subcommands)(CLI::App&)) {
  try {
    const int status = run(argc, argv, add_subcommands);
    finish_output();
    return status;
  } catch (const Interrupted& interrupted) {
    return 128 + interrupted.signal();
  } catch (const InvalidArgument& mistake) {
    return complain(mistake.what(), 2);
  } catch (const std::exception& error) {
    return complain(error.what(), 1);
  }
}

}  // namespace rankbox::cli
