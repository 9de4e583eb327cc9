// rankbox-gpu: the report of `./rankbox gpu` without Bazel. Its programs are in the same folder.
#include <cstdio>
#include <exception>
#include <filesystem>

#include <CLI/CLI.hpp>

#include "cli/gpu/gpu_report.h"
#include "cli/support/child.h"
#include "cli/support/complain.h"
#include "comm/errors.h"

namespace rankbox::cli {
namespace {

int run(int argc, char** argv) {
  ReportOptions options;
  std::string programs = std::filesystem::canonical("/proc/self/exe").parent_path().string();
  CLI::App app("Reports what the GPUs of this machine do, against targets.", "rankbox-gpu");
  add_report_options(app, options);
  app.add_option("--programs", programs, "folder of the programs (default: this program's)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked_for_help) {
    return app.exit(asked_for_help);
  } catch (const CLI::ParseError& error) {
    throw InvalidArgument(std::string(error.what()) + " (see --help)");
  }
  const int status = run_report(options, {programs});
  // A full disk or a closed pipe is a failure too.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw Error("cannot write to standard output");
  return status;
}

}  // namespace
}  // namespace rankbox::cli

int main(int argc, char** argv) {
  constexpr const char* kName = "rankbox-gpu";
  try {
    return rankbox::cli::run(argc, argv);
  } catch (const rankbox::cli::Interrupted& interrupted) {
    return 128 + interrupted.signal();
  } catch (const rankbox::InvalidArgument& mistake) {
    return rankbox::cli::complain(kName, mistake.what(), 2);
  } catch (const std::exception& error) {
    return rankbox::cli::complain(kName, error.what(), 1);
  }
}
