#include "cli/dev/dev.h"

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/support/options.h"
#include "cli/support/subcommands.h"

namespace rankbox::cli {
namespace {

void add_dev_new(CLI::App& dev) {
  auto options = std::make_shared<NewExercise>();
  CLI::App* command = dev.add_subcommand("new", "writes the skeleton of an exercise");
  command->footer(
      "Example:\n"
      "  ./rankbox dev new broadcast_star --chapter 02_broadcast --like broadcast_tree\n"
      "Writes the contract, the stub, the solution to fill in, the entry in the registry, hints "
      "and\n"
      "wrong programs to fill in, and overwrites nothing. The cost is that of the solution until\n"
      "the entry names a closed form.");
  command->add_option("name", options->name, "name of the function")->required()->type_name("NAME");
  command->add_option("--chapter", options->chapter, "folder of its chapter, such as 02_broadcast")
      ->required()
      ->type_name("NN_topic");
  auto* like = command->add_option("--like", options->like, "an exercise with the same signature");
  like->type_name("EXERCISE");
  command->add_option("--family", options->family, "how it is judged: judge/families.cc lists all")
      ->excludes(like)
      ->type_name("F");
  add_course(*command);
  command->callback([options] { make_exercise(*options); });
}

void add_dev_check(CLI::App& dev) {
  auto names = std::make_shared<std::vector<std::string>>();
  CLI::App* command = dev.add_subcommand("check", "proves that exercises are complete");
  command->footer(
      "Example:\n"
      "  ./rankbox dev check broadcast_ring    one exercise, some ten seconds\n"
      "  ./rankbox dev check                   all of them\n"
      "The stub fails, and git can restore it; the solution passes; the worked example has its\n"
      "cost; every wrong program fails for the right reason, every right one in another style\n"
      "passes; contract, hints and chapter page say what they should. Exits with 1 if not.");
  command->add_option("names", *names, "exercises (./rankbox list)")->type_name("NAME...");
  add_course(*command);
  command->callback([names] {
    if (!check_exercises(*names)) throw CLI::RuntimeError(1);
  });
}

}  // namespace

void add_dev(CLI::App& app) {
  CLI::App* dev = app.add_subcommand("dev", "makes new exercises, and checks them");
  dev->require_subcommand(1);
  dev->footer("Example:\n  ./rankbox dev check broadcast_ring\nSee CONTRIBUTING.md.");
  add_dev_new(*dev);
  add_dev_check(*dev);
}

}  // namespace rankbox::cli
