#include "cli/perf/output.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/compare/lists.h"
#include "cli/perf/session.h"
#include "cli/perf/table.h"

namespace rankbox::perf {

Output::Output(const Plan& plan, std::vector<Row> baselines, bool prints)
    : plan_(plan), prints_(prints), baselines_(std::move(baselines)) {}

void Output::start(const std::vector<Device>& devices) {
  devices_ = devices;
  if (prints_) fmt::print("{}", format_header(plan_, devices));
  std::fflush(stdout);
}

void Output::add(const Row& row) {
  if (row.algorithm != "native" || (!rows_.empty() && rows_.back().collective != row.collective)) {
    put_baselines();
  }
  put(row);
}

void Output::finish() {
  put_baselines();
  if (prints_) fmt::print("{}", format_footer(totals_of(rows_, std::getenv("NCCL_TESTS_MIN_BW"))));
}

void Output::put(const Row& row) {
  const bool begins = rows_.empty() || rows_.back().collective != row.collective ||
                      rows_.back().algorithm != row.algorithm;
  rows_.push_back(row);
  if (!prints_) return;
  if (begins) fmt::print("{}", format_columns(row, plan_.cluster));
  fmt::print("{}", format_row(row));
  std::fflush(stdout);
}

void Output::put_baselines() {
  if (rows_.empty()) return;
  const CollectiveKind collective = rows_.back().collective;
  NativeTimes native;
  for (Row row : rows_) native.compare(row);
  const auto others =
      std::stable_partition(baselines_.begin(), baselines_.end(),
                            [collective](const Row& row) { return row.collective == collective; });
  std::vector<Row> now(baselines_.begin(), others);
  baselines_.erase(baselines_.begin(), others);
  for (Row& row : now) {
    native.compare(row);
    put(row);
  }
}

Progress::Progress(std::size_t jobs) : jobs_(jobs), on_terminal_(isatty(STDERR_FILENO) == 1) {}

void Progress::show(std::size_t number, const Job& job) {
  show(fmt::format("{}/{}  {} {}, {} ranks, {}", number + 1, jobs_, name_of(job.row.collective),
                   job.row.algorithm, job.row.world_size, cli::format_bytes(job.row.bytes)));
}

void Progress::show(const std::string& what) {
  if (!on_terminal_) return;
  fmt::print(stderr, "\r\033[K{}", what);
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace rankbox::perf
