// `rankbox fit`: fit_report.py, which makes a cluster of measurements.
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/support/exec.h"
#include "cli/support/paths.h"
#include "cli/support/subcommands.h"

namespace rankbox::cli {
namespace {

struct Options {
  std::vector<std::string> logs;
  std::string out;
  std::string plot;
  std::string name;
  int ranks_per_node = 0;
  bool is_json = false;
};

/// Replaces this process by the script.
[[noreturn]] void run(const Options& options) {
  std::vector<std::string> words = {
      "python3",
      project_root() + "/cli/fit/fit_report.py",
      "--out=" + options.out,
      "--plot=" + options.plot,
      "--name=" + options.name,
      fmt::format("--ranks-per-node={}", options.ranks_per_node),
  };
  if (options.is_json) words.emplace_back("--json");
  words.emplace_back("--");
  words.insert(words.end(), options.logs.begin(), options.logs.end());
  replace_process(words);
}

}  // namespace

void add_fit(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("fit", "fits a cluster for --cluster to nccl-tests' logs of your machine");
  const auto options = std::make_shared<Options>();
  command
      ->add_option("log", options->logs,
                   "what nccl-tests printed, or wrote with -J, or the JSON of compare --backend "
                   "nccl; several files are fitted together")
      ->required();
  command->add_option("--out", options->out,
                      "write the cluster to this file, NAME.toml; without it, print it");
  command->add_flag("--json", options->is_json,
                    "print tables with their errors, findings and the cluster as one object");
  command->add_option("--plot", options->plot,
                      "draw measured and fitted times and bus bandwidths: .svg, .png or .pdf");
  command->add_option("--name", options->name,
                      "the cluster's name in tables; by default that of the file");
  command
      ->add_option("--ranks-per-node", options->ranks_per_node,
                   "ranks of one NVLink domain; by default those of a host, as the log names them")
      ->check(CLI::Range(1, 1'000'000));
  command->footer(
      "Examples:\n"
      "  ./rankbox fit all_reduce.log --out my.toml\n"
      "  ./rankbox compare --virtual --ranks 8,64 --cluster my.toml\n"
      "  ./rankbox fit one_node/*.log two_nodes/*.log --out my.toml --plot my.svg\n"
      "  ./rankbox fit rack.log --ranks-per-node 72 --json\n"
      "Rows that are no measurement of a link, as after a fall of the bandwidth, are named and "
      "not\n"
      "fitted. Exits with 0 if something was fitted, 1 if nothing is left to fit.");
  command->callback([options] { run(*options); });
}

}  // namespace rankbox::cli
