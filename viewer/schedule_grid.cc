#include "viewer/schedule_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace rankbox {

namespace {

struct Task {
  std::string label;
  double begin = 0;
  double end = 0;
};

/// Returns, per rank, the events that have a label, take time, and ended.
std::vector<std::vector<Task>> tasks_of(const Trace& trace, const Replay& replay) {
  std::vector<std::vector<Task>> ranks;
  for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
    std::vector<Task>& tasks = ranks.emplace_back();
    for (std::size_t i = 0; i < trace.ranks[rank].size(); ++i) {
      const Label label = label_of(trace.ranks[rank][i]);
      const Span& span = replay.spans[rank][i];
      if (!label.empty() && span.end > span.begin)
        tasks.push_back({label.text(), span.begin, span.end});
    }
  }
  return ranks;
}

/// The slots, the same for all rows.
struct Slots {
  double seconds = 0;  // of one
  int number = 0;
  int width = 0;  // columns of one
  bool is_cut = false;

  int at(double when) const { return static_cast<int>(std::lround(when / seconds)); }
};

Slots slots_of(const std::vector<std::vector<Task>>& ranks, int columns) {
  Slots slots;
  slots.seconds = std::numeric_limits<double>::infinity();
  double end = 0;
  std::size_t longest = 1;
  for (const std::vector<Task>& tasks : ranks) {
    for (const Task& task : tasks) {
      slots.seconds = std::min(slots.seconds, task.end - task.begin);
      end = std::max(end, task.end);
      longest = std::max(longest, task.label.size());
    }
  }
  // Without a gap between them, if that helps.
  slots.number = static_cast<int>(std::min(end / slots.seconds + 0.5, 1e6));
  slots.width = static_cast<int>(longest) + 1;
  if (slots.number * slots.width > columns) slots.width = static_cast<int>(longest);
  const int room = std::max(1, columns / slots.width);
  slots.is_cut = slots.number > room;
  slots.number = std::min(slots.number, room);
  return slots;
}

std::string repeat(const char* sign, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += sign;
  return text;
}

std::string draw_task(const Task& task, int columns, const ScheduleGridOptions& options) {
  const auto label = static_cast<int>(task.label.size());
  const bool gap = columns > label;
  const std::string filled =
      task.label + repeat(options.ascii ? "-" : "─", std::max(0, columns - label - (gap ? 1 : 0)));
  const std::string end = gap ? " " : "";
  if (!options.colour) return filled + end;
  const int colour = task.label[0] == 'B' ? 33 : task.label[0] == 'W' ? 32 : 36;
  return fmt::format("\033[{}m{}\033[0m{}", colour, filled, end);
}

std::string draw_row(const std::vector<Task>& tasks, const Slots& slots,
                     const ScheduleGridOptions& options) {
  std::string row;
  int slot = 0;
  const auto idle_until = [&](int end) {
    for (; slot < end; ++slot)
      row +=
          (options.ascii ? "." : "·") + std::string(static_cast<std::size_t>(slots.width - 1), ' ');
  };
  for (const Task& task : tasks) {
    const int begin = std::max(slot, std::min(slots.at(task.begin), slots.number));
    const int end = std::min(std::max(begin + 1, slots.at(task.end)), slots.number);
    idle_until(begin);
    if (end <= begin) break;  // beyond the right edge
    row += draw_task(task, (end - begin) * slots.width, options);
    slot = end;
  }
  idle_until(slots.number);
  row.erase(row.find_last_not_of(' ') + 1);
  if (slots.is_cut) row += options.ascii ? " ..." : " …";
  return row;
}

}  // namespace

bool has_schedule(const Trace& trace) {
  const auto is_turn = [](const std::string& label) {
    constexpr std::string_view kDigits = "0123456789";
    if (label.size() < 2 || std::string_view("FBW").find(label[0]) == std::string_view::npos ||
        kDigits.find(label[1]) == std::string_view::npos)
      return false;
    const std::size_t chunk = label.find_first_not_of(kDigits, 1);  // F0b: of the second stage here
    return chunk == std::string::npos ||
           (chunk + 1 == label.size() && label[chunk] >= 'a' && label[chunk] <= 'z');
  };
  return std::ranges::any_of(trace.ranks, [&](const std::vector<Event>& events) {
    return std::ranges::any_of(events,
                               [&](const Event& event) { return is_turn(label_of(event).text()); });
  });
}

bool has_labels(const Trace& trace) {
  return std::ranges::any_of(trace.ranks, [](const std::vector<Event>& events) {
    return std::ranges::any_of(events, [](const Event& event) { return !label_of(event).empty(); });
  });
}

std::string draw_schedule(const Trace& trace, const Replay& replay,
                          const ScheduleGridOptions& options) {
  const std::vector<std::vector<Task>> ranks = tasks_of(trace, replay);
  const std::size_t drawn = std::min(ranks.size(), static_cast<std::size_t>(options.max_ranks));
  const std::size_t digits = std::to_string(drawn - 1).size();
  const Slots slots = slots_of(ranks, options.columns - static_cast<int>(digits) - 11);
  std::string picture;
  for (std::size_t rank = 0; rank < drawn; ++rank)
    picture +=
        fmt::format("rank {:<{}}  {}\n", rank, digits, draw_row(ranks[rank], slots, options));
  if (drawn < ranks.size()) picture += fmt::format("and {} more ranks\n", ranks.size() - drawn);
  return picture;
}

double unlabelled_share(const Trace& trace, const Replay& replay) {
  double busy = 0;
  for (const std::vector<Task>& tasks : tasks_of(trace, replay)) {
    for (const Task& task : tasks) busy += task.end - task.begin;
  }
  const double end = *std::max_element(replay.clocks.begin(), replay.clocks.end());
  return end > 0 ? 1 - busy / (end * static_cast<double>(trace.ranks.size())) : 0;
}

}  // namespace rankbox
