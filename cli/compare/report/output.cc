#include "cli/compare/report/output.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include "cli/compare/plan/plan.h"
#include "cli/compare/report/report.h"
#include "cli/compare/report/report_json.h"
#include "cli/support/now.h"
#include "cli/support/terminal.h"

namespace rankbox::cli {
namespace {

constexpr double kSecondsBetweenShows = 0.1;

/// Returns the cores that this process may use.
int cores_of_process() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) == 0) return CPU_COUNT(&cores);
  return static_cast<int>(std::thread::hardware_concurrency());
}

/// Returns the cores that run the ranks, 0 for GPUs. With MPI all hosts are taken to be like this
/// one, since launchers bind each process to some cores.
/// @param is_sandbox ranks are threads of this process
int cores_of(bool is_sandbox, const std::vector<Device>& devices) {
  if (is_sandbox) return cores_of_process();
  std::set<std::string> hosts;
  for (const Device& device : devices) {
    if (device.bus != "cpu") return 0;
    hosts.insert(device.host);
  }
  return static_cast<int>(std::thread::hardware_concurrency() * hosts.size());
}

}  // namespace

void Output::start(const std::vector<std::string>& backend, const std::vector<Device>& devices) {
  devices_ = devices;
  plan_.cores = cores_of(/*is_sandbox=*/backend.empty(), devices);
  if (!prints_) return;
  const bool is_nccl = !backend.empty() && backend.front().starts_with("nccl");
  fmt::print("{}{}", fit(format_header(backend, devices)),
             has_started_ ? "" : fit(legend(plan_, is_nccl)));
  std::fflush(stdout);
  has_started_ = true;
}

void Output::add(const std::vector<Row>& contest) {
  rows_.insert(rows_.end(), contest.begin(), contest.end());
  if (!prints_) return;
  fmt::print("{}", format_contest(plan_, contest, use_colour()));
  std::fflush(stdout);
}

void Output::finish() {
  if (!prints_) return;
  const std::string winners = format_winners(plan_, rows_);
  if (winners.empty()) return;
  if (plan_.without_data) {
    fmt::print("\n{}The native collective is not ranked.\n{}", fit(winners),
               refit(note_on_native(plan_, rows_)));
    return;
  }
  const char* const on_noise =
      " On this machine, a topology stays the fastest\n"
      "while the lead of another may be noise (middle halves that overlap); * marks the shortest\n"
      "time.";
  const bool has_times = winners.find("this machine") != std::string::npos;
  fmt::print(
      "\n{}{}{}{}", fit(winners),
      refit(fmt::format("The native collective is not ranked.{}\n", has_times ? on_noise : "")),
      refit(note_on_cores(plan_, rows_)), refit(note_on_native(plan_, rows_)));
}

std::string complaint_about(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    if (row.failure) return fmt::format("{}: {}", describe(row), in_words(*row.failure));
    if (row.wrong.value_or(0) > 0) {
      return fmt::format("{}: {} elements of the result are wrong", describe(row), *row.wrong);
    }
  }
  const char* const least = std::getenv("NCCL_TESTS_MIN_BW");
  const auto has_time = [](const Row& row) { return row.time.has_value(); };
  if (least == nullptr || *least == '\0' || std::ranges::none_of(rows, has_time)) return "";
  const double wanted = std::strtod(least, nullptr) * 1e9;
  if (average_bus_bandwidth(rows) >= 0.9 * wanted) return "";
  return fmt::format("the average bus bandwidth is below 90% of NCCL_TESTS_MIN_BW={:g}",
                     wanted / 1e9);
}

Progress::Progress() : on_terminal_(isatty(STDERR_FILENO) == 1) {}

void Progress::show(const Row& row) {
  if (!on_terminal_ || now() - shown_at_ < kSecondsBetweenShows) return;
  fmt::print(stderr, "\r\033[K{}", describe(row));
  std::fflush(stderr);
  shown_at_ = now();
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace rankbox::cli
