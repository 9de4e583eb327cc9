#include "judge/race/steps_table.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace rankbox {

namespace {

constexpr std::size_t kMostRows = 40;
constexpr std::size_t kMostColumns = 2;

std::string what(const interleave::Step& step) {
  using enum interleave::Action;
  const std::int64_t n = step.number;
  switch (step.operation.action) {
    case kLoad:
      return fmt::format("load   {}", step.after);
    case kStore:
      return fmt::format("store  {}", step.after);
    case kRead:
      return fmt::format("read variable {}", n);
    case kWrite:
      return fmt::format("write variable {}", n);
    case kAtomicLoad:
      return fmt::format("atomic {} is {}", n, step.after);
    case kAtomicStore:
      return fmt::format("atomic {} = {}", n, step.after);
    case kAtomicUpdate:
      return step.before == step.after
                 ? fmt::format("atomic {} stays {}", n, step.after)
                 : fmt::format("atomic {}: {} > {}", n, step.before, step.after);
    case kLock:
      return fmt::format("lock mutex {}", n);
    case kLockShared:
      return fmt::format("lock mutex {}, shared", n);
    case kTryLock:
      return fmt::format("try mutex {}: {}", n, step.gave_up ? "not free" : "taken");
    case kUnlock:
    case kUnlockShared:
      return fmt::format("unlock mutex {}", n);
    case kWait:
      return fmt::format("wait for condition {}", n);
    case kWake:
      return step.gave_up ? "the wait gives up" : "woken";
    case kNotify:
      return fmt::format("notify condition {}", n);
    case kAcquire:
      return fmt::format("take semaphore {}", n);
    case kRelease:
      return fmt::format("post semaphore {}", n);
    case kArrive:
      return fmt::format("arrive at barrier {}", n);
    case kLeave:
      return fmt::format("leave barrier {}", n);
    case kSleep:
      return fmt::format("wait on atomic {}", n);
    case kWoken:
      return "woken";
    case kRouse:
      return fmt::format("wake waiters of {}", n);
    case kYield:
      return "yield";
    case kStart:
    case kEnd:
    case kJoin:
      break;
  }
  return "";
}

/// Returns [begin, end) of the rows to show.
std::pair<std::size_t, std::size_t> window(const std::vector<StepRow>& rows) {
  if (rows.size() <= kMostRows) return {0, rows.size()};
  const auto lost = std::ranges::find_if(rows, &StepRow::overwrote);
  const auto end =
      std::min<std::size_t>(static_cast<std::size_t>(lost - rows.begin()) + 3, rows.size());
  return {end > kMostRows ? end - kMostRows : 0, end};
}

std::string without_end(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::vector<StepRow> rows_of(const std::vector<interleave::Step>& steps, std::int64_t before) {
  using enum interleave::Action;
  std::vector<StepRow> rows;
  std::map<int, std::int64_t> loaded;  // [thread]
  std::int64_t value = before;
  for (const interleave::Step& step : steps) {
    StepRow row;
    row.thread = step.thread;
    row.what = what(step);
    row.code = step.operation.code;
    if (row.what.empty()) continue;
    if (step.operation.action == kLoad) loaded[step.thread] = step.after;
    if (step.operation.action == kStore) {
      row.overwrote = loaded[step.thread] != value;
      value = step.after;
    }
    row.value = value;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::string> steps_table(const std::vector<StepRow>& rows, std::int64_t before) {
  std::set<int> threads;
  for (const StepRow& row : rows) threads.insert(row.thread);
  const bool has_columns = threads.size() <= kMostColumns;
  const auto name = [](int thread) {
    return thread == 0 ? std::string("race() itself") : fmt::format("thread {}", thread);
  };
  const auto columns = [&](int thread, const std::string& text) {
    if (!has_columns) return fmt::format("{:<14} {:<22}", thread < 0 ? "" : name(thread), text);
    std::string all;
    for (const int each : threads)
      all += fmt::format("{:<21} ", thread < 0 ? name(each) : each == thread ? text : "");
    return all;
  };
  std::vector<std::string> lines;
  const auto [begin, end] = window(rows);
  const std::int64_t first = begin == 0 ? before : rows[begin - 1].value;
  lines.push_back(
      without_end(fmt::format("{:>5}  {}{:>6}  {:>4}", "step", columns(-1, ""), "value", "line")));
  lines.push_back(
      fmt::format("{:>5}  {}{:>6}", "", std::string(columns(-1, "").size(), ' '), first));
  for (std::size_t i = begin; i < end; ++i) {
    const StepRow& row = rows[i];
    lines.push_back(without_end(fmt::format(
        "{:>5}  {}{:>6}  {:>4}{}", i + 1, columns(row.thread, row.what), row.value,
        row.line > 0 ? std::to_string(row.line) : "", row.overwrote ? "  <- update lost" : "")));
  }
  return lines;
}

}  // namespace rankbox
