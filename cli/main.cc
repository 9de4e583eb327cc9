// `rankbox`: what the first hour needs. `rankbox-more` has all, and takes longer to compile.
#include "cli/command_line.h"
#include "cli/support/programs.h"
#include "cli/support/subcommands.h"

namespace rankbox::cli {
namespace {

void add_subcommands(CLI::App& app) {
  add_elsewhere(app, "demo", "gives a tour: a race, graded solutions, a comparison, a timeline");
  add_list(app);
  add_next(app);
  add_check(app);
  add_watch(app);
  add_hint(app);
  add_reset(app);
  add_show(app);
  add_run(app);
  add_elsewhere(app, "compare", "times topologies, including yours, against the native collective");
  add_elsewhere(app, "gpu",
                "reports what this machine's GPUs do: tests, kernels, collectives, training");
  add_elsewhere(app, "fit", "fits a cluster for --cluster to nccl-tests' logs of your machine");
  add_elsewhere(app, "plan",
                "which parallelisms for a model on a cluster: bytes, memory and time of a step");
  add_elsewhere(app, "grade", "grades a folder of submissions");
  add_elsewhere(app, "race", "shows a race condition, and three ways to fix it");
  add_elsewhere(
      app, "train",
      "trains a model on one rank or many, in the sandbox, under MPI or on GPUs; --help shows how");
  add_test(app);
  add_elsewhere(app, "dev", "makes new exercises, and checks them");
  add_judge(app);
  add_run_library(app);
}

}  // namespace
}  // namespace rankbox::cli

int main(int argc, char** argv) {
  rankbox::cli::hand_over_with(argv);
  return rankbox::cli::run_command_line(argc, argv, rankbox::cli::add_subcommands);
}
