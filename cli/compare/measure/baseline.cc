#include "cli/compare/measure/baseline.h"

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/support/child.h"
#include "comm/result_bytes.h"
#include "comm/run_ranks.h"
#include "files/fd.h"

namespace rankbox::cli {

namespace {

std::vector<std::string> arguments_of_this_process;  // without those that a baseline sets

// No limit is needed: its ranks have deadlines.
constexpr double kNoLimitSeconds = 7 * 24 * 3600;

std::string status_in_words(int status) {
  return WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                             : fmt::format("exit code {}", WEXITSTATUS(status));
}

}  // namespace

void set_baseline_arguments(std::vector<std::string> arguments) {
  arguments_of_this_process = std::move(arguments);
}

BaselineRows measure_baseline(int world_size, const Baseline& baseline) {
  const char* const job = std::getenv("RANKBOX_JOB");
  ChildOptions child;
  // Not /proc/self/exe: that would be env.
  child.command = {"env"};
  child.command.insert(child.command.end(), baseline.environment.begin(),
                       baseline.environment.end());
  // A separate job id: the children must find each other, and not their parents
  // (gpu/launch/rank_variables.h).
  child.command.push_back(
      fmt::format("RANKBOX_JOB={} {}", job == nullptr ? "" : job, baseline.label));
  child.command.push_back(std::filesystem::read_symlink("/proc/self/exe").string());
  child.command.insert(child.command.end(), arguments_of_this_process.begin(),
                       arguments_of_this_process.end());
  for (const char* option : {"--is-baseline", "--algorithms", "native", "--baseline", "none"}) {
    child.command.emplace_back(option);
  }
  if (launch().processes == 0) {
    child.command.insert(child.command.end(), {"--ranks", std::to_string(world_size)});
  }
  child.seconds = kNoLimitSeconds;
  child.file_bytes = std::numeric_limits<std::int64_t>::max();  // shared memory counts as files

  const ChildResult result = run_child(child);
  BaselineRows measured;
  if (result.status != 0) {
    measured.failure =
        fmt::format("{}: {}", status_in_words(result.status), last_line(result.output));
    return measured;
  }
  if (!launch().is_first()) return measured;
  if (result.report.empty()) {
    measured.failure = "it ended without results: " + last_line(result.output);
    return measured;
  }
  ByteReader reader(result.report);
  measured.rows = reader.next<std::vector<Row>>();
  for (Row& row : measured.rows) {
    row.algorithm = baseline.label;
    row.whose = Whose::kNative;
    row.virtual_seconds.reset();  // the closed form describes the native collective's defaults
  }
  return measured;
}

void report_to_parent(const std::vector<Row>& rows) {
  ByteWriter writer;
  writer.put(rows);
  if (!write_all(kReportFd, writer.bytes)) {
    throw std::system_error(errno, std::generic_category(), "--is-baseline: the parent has exited");
  }
}

}  // namespace rankbox::cli
