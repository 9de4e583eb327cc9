#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/gpu/gpu_report.h"
#include "cli/support/backend_program.h"
#include "cli/support/bundle_folder.h"
#include "cli/support/subcommands.h"
#include "comm/errors.h"

namespace rankbox::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kScript = R"sh(#!/bin/sh
# Made by ./rankbox gpu --bundle. Reports what the GPUs of this machine do, against targets.
#
#   ./run.sh                      the whole report, in less than ten minutes
#   ./run.sh --markdown           as a table for docs/gpu_measured.md
#   ./run.sh OPTION...            see ./run.sh --help
#
# Needs an NVIDIA driver, and a C library at least as new as that of the machine that made it.
here=$(cd "$(dirname "$0")" && pwd -P)
LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
exec "$here/rankbox-gpu" "$@"
)sh";

struct Options {
  ReportOptions report;
  std::string bundle;
};

void write_bundle(const std::string& folder, const fs::path& programs, const fs::path& of_host) {
  BundleFolder bundle;
  bundle.path = folder;
  for (const auto& entry : fs::recursive_directory_iterator(programs)) {
    if (entry.is_regular_file())
      bundle.programs.push_back({entry.path(), fs::relative(entry.path(), programs)});
  }
  bundle.programs.push_back({of_host, of_host.filename()});
  bundle.script = kScript;
  write_bundle_folder(bundle);
  fmt::print("wrote {}: copy it to the machine with GPUs, and start run.sh there\n", folder);
}

void run(const Options& options) {
  const bool is_for_others = !options.bundle.empty();
  if (is_for_others && (!options.report.json.empty() || !options.report.only.empty() ||
                        options.report.is_markdown)) {
    throw InvalidArgument("--bundle measures nothing here: give the other options to its run.sh");
  }
  check_options(options.report);
  // The folder of //cli/gpu:rankbox-gpu, and the one program that it cannot hold.
  const fs::path programs = backend_program("gpu", "nccl", is_for_others);
  const fs::path of_host = backend_program("train", "sim");
  if (is_for_others) return write_bundle(options.bundle, programs, of_host);
  const int status = run_report(options.report, {programs, of_host.parent_path()});
  if (status != 0) throw CLI::RuntimeError(status);
}

}  // namespace

void add_gpu(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "gpu", "reports what this machine's GPUs do: tests, kernels, collectives, training");
  const auto options = std::make_shared<Options>();
  add_report_options(*command, options->report);
  command
      ->add_option("--bundle", options->bundle,
                   "instead of measuring here, make a folder whose run.sh measures on another "
                   "machine")
      ->excludes("--seconds");
  command->footer(
      "Examples:\n"
      "  ./rankbox gpu\n"
      "  ./rankbox gpu --markdown --json figures.json\n"
      "  ./rankbox gpu --only contract,kernels\n"
      "  ./rankbox gpu --bundle to_the_gpus\n"
      "Exits with 0 if every measured target is met, 1 if one is not or a program fails, 130\n"
      "after Ctrl-C, which still prints what has been measured.");
  command->callback([options] { run(*options); });
}

}  // namespace rankbox::cli
