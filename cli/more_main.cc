// `rankbox-more`: all subcommands.
#include "cli/command_line.h"
#include "cli/exercise/live_page.h"
#include "cli/support/subcommands.h"

namespace rankbox::cli {
namespace {

void add_subcommands(CLI::App& app) {
  add_demo(app);
  add_list(app);
  add_next(app);
  add_check(app);
  add_watch(app, open_live_page);
  add_hint(app);
  add_reset(app);
  add_show(app);
  add_run(app);
  add_compare(app);
  add_compare_worker(app);
  add_gpu(app);
  add_fit(app);
  add_plan(app);
  add_grade(app);
  add_race(app);
  add_train(app);
  add_test(app);
  add_dev(app);
  add_judge(app);
  add_referee(app);
  add_run_library(app);
}

}  // namespace
}  // namespace rankbox::cli

int main(int argc, char** argv) {
  return rankbox::cli::run_command_line(argc, argv, rankbox::cli::add_subcommands);
}
