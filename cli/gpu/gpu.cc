// `rankbox gpu`: gpu_report.py, for this machine or as a folder for another one.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/support/bundle_folder.h"
#include "cli/support/exec.h"
#include "cli/support/paths.h"
#include "cli/support/programs.h"
#include "cli/support/subcommands.h"
#include "comm/errors.h"

namespace rankbox::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kScript = R"sh(#!/bin/sh
# Made by ./rankbox gpu --bundle. Reports what the GPUs of this machine do, against targets.
# See ./run.sh --help. Needs an NVIDIA driver, python3, and a C library at least as new as that of
# the machine that made it.
here=$(cd "$(dirname "$0")" && pwd -P)
LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
# NCCL and cuBLAS are not in every bundle. PyTorch's wheels have them.
[ -e "$here/lib/libnccl.so.2" ] || LD_LIBRARY_PATH=$LD_LIBRARY_PATH$(python3 -c '
import importlib.util, pathlib
found = importlib.util.find_spec("nvidia")
for place in found.submodule_search_locations if found else ():
    for folder in sorted(pathlib.Path(place).glob("*/lib")):
        print(":" + str(folder), end="")
')
export LD_LIBRARY_PATH
exec "$here/rankbox-gpu" "$@"
)sh";

struct Options {
  std::string only;
  std::string tests;
  double seconds = 580;
  std::string json;
  std::string out;
  bool is_markdown = false;
  bool is_debug = false;
  bool is_dry = false;
  std::string bundle;
};

constexpr std::int64_t kMostBytes = std::int64_t{60} << 20;  // of an archive

/// @param path of a folder, or of a file that ends with ".tar.xz"
void write_bundle(const std::string& path) {
  // The folder of //cli/gpu:rankbox-gpu, and the one program that it cannot hold.
  const fs::path programs = backend_program("gpu", "nccl", /*for_another_machine=*/true);
  const fs::path of_host = backend_program("train", "sim");
  BundleFolder bundle;
  bundle.path = path;
  for (const auto& entry : fs::recursive_directory_iterator(programs)) {
    if (!entry.is_regular_file()) continue;
    const fs::path name = fs::relative(entry.path(), programs);
    const bool is_python = name == "rankbox-gpu" || name.extension() == ".py";
    (is_python ? bundle.others : bundle.programs).push_back({entry.path(), name});
  }
  bundle.programs.push_back({of_host, of_host.filename()});
  bundle.script = kScript;
  if (!path.ends_with(".tar.xz")) {
    write_bundle_folder(bundle);
    fmt::print("wrote {}: copy it to the machine with GPUs, and start run.sh there\n", path);
    return;
  }
  bundle.provided = {"libnccl.so", "libcublas.so", "libcublasLt.so"};
  const std::int64_t bytes = write_bundle_archive(bundle, kMostBytes);
  fmt::print(
      "wrote {}, {:.1f} MiB: unpack it on the machine with GPUs (tar -xJf), and start run.sh "
      "there\n",
      path, static_cast<double>(bytes) / 0x1p20);
}

/// Replaces this process by the script, which builds the programs once it has checked its options.
[[noreturn]] void run_script(const Options& options) {
  const std::string& root = project_root();
  std::vector<std::string> words = {"python3",
                                    root + "/cli/gpu/gpu_report.py",
                                    "--rankbox=" + root,
                                    "--only=" + options.only,
                                    "--tests=" + options.tests,
                                    fmt::format("--seconds={}", options.seconds),
                                    "--json=" + options.json,
                                    "--out=" + options.out};
  if (options.is_markdown) words.emplace_back("--markdown");
  if (options.is_debug) words.emplace_back("--debug");
  if (options.is_dry) words.emplace_back("--dry-run");
  replace_process(words);
}

void run(const Options& options) {
  if (options.bundle.empty()) run_script(options);
  if (!(options.json + options.only + options.tests + options.out).empty() || options.is_markdown ||
      options.is_debug || options.is_dry)
    throw InvalidArgument("--bundle measures nothing here: give the other options to its run.sh");
  write_bundle(options.bundle);
}

}  // namespace

// gpu_report.py has the same options, for a bundle.
void add_gpu(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "gpu", "reports what this machine's GPUs do: tests, kernels, collectives, training");
  const auto options = std::make_shared<Options>();
  command->add_option(
      "--only", options->only,
      "only these sections, by names or their beginnings: machine, calls, pairs, contract-shared, "
      "course, contract-threads, contract-one-gpu, contract-processes, kernels, sharing, segments, "
      "collectives, ring, train, sanitizer");
  command->add_option("--tests", options->tests,
                      "only these test programs, by names or their beginnings: "
                      "split_test,course/04");
  command->add_option("--seconds", options->seconds, "at most this long, shared among the sections")
      ->check(CLI::Range(0.1, 86400.0))
      ->capture_default_str();
  command->add_option("--json", options->json,
                      "write the report to this file as JSON; - for stdout, without the text");
  command->add_option(
      "--out", options->out,
      "folder for report.md, report.json and output.txt, with what every program "
      "printed; written line by line, so that what ends this program loses nothing");
  command->add_flag("--debug", options->is_debug,
                    "with NCCL_DEBUG=WARN: for a second run of what failed");
  command->add_flag("--dry-run", options->is_dry,
                    "tiny sizes: shows that every section runs; its figures mean nothing");
  command->add_flag("--markdown", options->is_markdown,
                    "print a table for docs/gpu_measured.md instead of the text");
  command
      ->add_option("--bundle", options->bundle,
                   "instead of measuring here, make a folder whose run.sh measures on another "
                   "machine; NAME.tar.xz is one file of at most 60 MiB, without NCCL and cuBLAS")
      ->excludes("--seconds");
  command->footer(
      "Examples:\n"
      "  ./rankbox gpu\n"
      "  ./rankbox gpu --markdown --json figures.json\n"
      "  ./rankbox gpu --only contract,kernels\n"
      "  ./rankbox gpu --only contract-shared --tests split_test --debug\n"
      "  ./rankbox gpu --bundle to_the_gpus\n"
      "  ./rankbox gpu --bundle to_the_gpus.tar.xz\n"
      "Exits with 0 if every measured target is met, 1 if one is not or a program fails, 130\n"
      "after Ctrl-C, which still prints what has been measured.");
  command->callback([options] { run(*options); });
}

}  // namespace rankbox::cli
