// `rankbox`, which is built first, and `rankbox-more`, which it hands over to, are one to the user.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/cli/command.h"

namespace rankbox {
namespace {

/// Runs the program of the first hour.
CommandResult first(const std::vector<std::string>& arguments) {
  return run_program(std::filesystem::path(rankbox_program()).parent_path() / "rankbox", arguments);
}

}  // namespace

TEST_CASE("rankbox answers as rankbox-more does: help, lists, verdicts, mistakes") {
  const std::vector<std::vector<std::string>> calls = {
      {},
      {"--help"},
      {"--help-all"},
      {"--version"},
      {"list"},
      {"next", "--json"},
      {"check", "--help"},
      {"check", "ping_pong", "--solution", "--json"},
      {"check", "ping_pong", "--predict", "2 2"},
      // Solutions that call others.
      {"check", "04_allreduce", "--solution", "--json"},
      {"check", "broadcast_naive"},
      {"hint", "no_such_exercise"},
      {"show", "broadcast_tree", "--solution"},
      {"chek", "ping_pong"},
      {"check", "ping_pong", "--seeled"},
      {"check", "--replay="},
  };
  for (const std::vector<std::string>& arguments : calls) {
    CAPTURE(arguments.empty() ? "" : arguments.front());
    const CommandResult ours = first(arguments);
    const CommandResult all = rankbox(arguments);
    CHECK(ours.exit_code == all.exit_code);
    CHECK(ours.output == all.output);
  }
}

TEST_CASE("rankbox hands over what it lacks, with all arguments") {
  const std::vector<std::vector<std::string>> calls = {
      {"compare", "--help"},
      {"compare", "--virtual", "--ranks", "4", "--sizes", "64K", "--cluster", "h100-nvlink"},
      {"compare", "--ranks", "none"},
      {"--course", "no/such/folder", "grade", "."},
      {"check", "ping_pong", "--solution", "--sealed", "--salt", "7", "--json"},
      // Of chapters 6 to 12.
      {"check", "loss_scaling", "--solution", "--json"},
      {"show", "distributed_sampler", "--solution"},
      {"dev", "check", "no_such_exercise"},
      {"grade", "no/such/folder"},
      {"watch", "--page", "no_such_exercise"},
  };
  for (const std::vector<std::string>& arguments : calls) {
    CAPTURE(arguments.front());
    const CommandResult ours = first(arguments);
    const CommandResult all = rankbox(arguments);
    CHECK(ours.exit_code == all.exit_code);
    CHECK(ours.output == all.output);
  }
}

TEST_CASE("rankbox hands over a program that calls functions of training") {
  std::ofstream(project() + "/of_training.cc") << R"(
#include <cstdio>
#include <vector>

#include "cli/rank_main.h"
#include "training/cross_entropy.h"

namespace rankbox {

void rank_main(Comm&) {
  const std::vector<std::int32_t> labels = {0};
  std::printf("%g\n", cross_entropy(zeros({1, 2}), labels).sum);
}

}  // namespace rankbox
)";
  const CommandResult result = first({"run", "of_training.cc"});
  INFO(result.output);
  CHECK(result.exit_code == 0);
  CHECK(result.output.find("0.693147") != std::string::npos);
}

}  // namespace rankbox
