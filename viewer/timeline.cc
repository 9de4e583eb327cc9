#include "viewer/timeline.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "viewer/arrivals.h"

namespace rankbox {
namespace {

/// The characters of a picture, each one column wide.
struct Signs {
  const char* to;
  const char* from;
  const char* transfer;
  const char* work;
  const char* micro;
  const char* more;
};

constexpr Signs kUnicode = {"→", "←", "━", "▒", "µ", "…"};
constexpr Signs kAscii = {">", "<", "=", "#", "u", "..."};

constexpr const char* kPlain = "\033[0m";

/// Returns the colour code of a span; empty: none.
const char* colour_of(const Event& event, bool colour) {
  if (!colour) return "";
  switch (event.kind) {
    case EventKind::kSend:
      return "\033[34m";
    case EventKind::kRecv:
      return "\033[32m";
    case EventKind::kCollective:
      return "\033[35m";
    default:
      return "\033[33m";
  }
}

/// One line of cells, one column each.
class Lane {
 public:
  explicit Lane(int width) : cells_(static_cast<std::size_t>(width)) {}

  void put(int column, const std::string& sign, std::string_view colour = "") {
    if (column >= 0 && column < static_cast<int>(cells_.size())) {
      cells_[static_cast<std::size_t>(column)] = {sign, colour};
    }
  }

  /// Draws "[→1━━━]" over columns [begin, end); the label is cut to fit.
  void put_span(int begin, int end, const std::vector<std::string>& label, const char* fill,
                bool open, std::string_view colour) {
    if (end - begin < 2 && !open) {
      put(begin, "|", colour);
      return;
    }
    put(begin, "[", colour);
    const int inside = end - begin - 2;
    const bool label_fits = static_cast<int>(label.size()) <= inside;
    for (int i = 0; i < inside; ++i) {
      const bool in_label = label_fits && i < static_cast<int>(label.size());
      put(begin + 1 + i, in_label ? label[static_cast<std::size_t>(i)] : fill, colour);
    }
    put(end - 1, open ? "?" : "]", colour);
  }

  /// Draws the cells of a text, if it fits.
  void put_text(int column, const std::vector<std::string>& text) {
    const int size = static_cast<int>(text.size());
    if (column < 0 || column + size > static_cast<int>(cells_.size())) {
      return;
    }
    for (int i = 0; i < size; ++i) {
      put(column + i, text[static_cast<std::size_t>(i)]);
    }
  }

  std::string text() const {
    std::string line;
    std::string_view paint;
    const auto change_to = [&](std::string_view colour) {
      if (colour == paint) return;
      if (!paint.empty()) line += kPlain;
      line += paint = colour;
    };
    for (const Cell& cell : cells_) {
      change_to(cell.colour);
      line += cell.sign;
    }
    change_to("");
    return line;
  }

 private:
  struct Cell {
    std::string sign = " ";
    std::string_view colour;
  };
  std::vector<Cell> cells_;
};

std::vector<std::string> cells_of(const std::string& ascii) {
  std::vector<std::string> cells;
  for (const char c : ascii) {
    cells.emplace_back(1, c);
  }
  return cells;
}

std::vector<std::string> lines_of_label(const Event& event, const Signs& signs) {
  std::vector<std::string> label;
  switch (event.kind) {
    case EventKind::kSend:
      label = cells_of(std::to_string(event.peer));
      label.insert(label.begin(), signs.to);
      return label;
    case EventKind::kRecv:
      label = cells_of(std::to_string(event.peer));
      label.insert(label.begin(), signs.from);
      return label;
    case EventKind::kCollective:
      return cells_of(name_of(event.collective));
    case EventKind::kReduce:
      return cells_of("+");
    case EventKind::kCompute:
      return cells_of(label_of(event).empty() ? "compute" : label_of(event).text());
    case EventKind::kWait:
      return {};
  }
  return label;
}

/// Maps virtual time to columns.
class Scale {
 public:
  Scale(double seconds, int width) : seconds_(seconds), width_(width) {}

  int column(double time) const {
    return seconds_ > 0 ? static_cast<int>(std::lround(time / seconds_ * width_)) : 0;
  }

  /// Returns a round distance between marks with room for their labels: 1, 2 or 5 times a power of
  /// ten.
  double tick() const {
    const double least = seconds_ * 12 / width_;
    const double power = std::pow(10, std::floor(std::log10(least)));
    for (const double step : {1.0, 2.0, 5.0}) {
      if (step * power >= least) {
        return step * power;
      }
    }
    return 10 * power;
  }

 private:
  double seconds_;
  int width_;
};

std::vector<std::string> time_label(double seconds, const Signs& signs) {
  if (seconds >= 1e-3) {
    return cells_of(seconds >= 1 ? fmt::format("{:.4g} s", seconds)
                                 : fmt::format("{:.4g} ms", seconds * 1e3));
  }
  std::vector<std::string> label = cells_of(fmt::format("{:.4g} ", seconds * 1e6));
  label.emplace_back(signs.micro);
  label.emplace_back("s");
  return label;
}

std::string draw_axis(const Scale& scale, double seconds, int width, const Signs& signs) {
  Lane axis(width);
  axis.put(0, "0");
  if (seconds > 0) {
    const double tick = scale.tick();
    for (int i = 1; i * tick <= seconds; ++i) {
      axis.put_text(scale.column(i * tick), time_label(i * tick, signs));
    }
  }
  return axis.text();
}

/// Returns the end of the picture: that of the last span; open ones get some space after it.
double end_of(const Replay& replay) {
  double end = 0;
  bool any_open = false;
  for (const std::vector<Span>& spans : replay.spans) {
    for (const Span& span : spans) {
      end = std::max({end, span.begin, span.end});
      any_open = any_open || span.end < span.begin;
    }
  }
  return any_open ? end * 1.25 : end;
}

/// Returns a line of the picture, without trailing blanks.
std::string finish(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::string draw_timeline(const Trace& trace, const Replay& replay,
                          const TimelineOptions& options) {
  const Signs& signs = options.ascii ? kAscii : kUnicode;
  const int world_size = static_cast<int>(trace.ranks.size());
  const int drawn = std::min(world_size, options.max_ranks);
  const int name_width = static_cast<int>(std::to_string(std::max(drawn - 1, 0)).size());
  const int margin = 5 + name_width + 7;  // "rank 0", "  out  "
  const int width = std::max(options.columns, 40) - margin;
  const std::vector<std::vector<Arrival>> arrivals = find_arrivals(trace, replay);
  const double seconds = end_of(replay);
  const Scale scale(seconds, width);

  std::string picture;
  for (int rank = 0; rank < drawn; ++rank) {
    const std::vector<Event>& events = trace.ranks[static_cast<std::size_t>(rank)];
    const std::vector<Span>& spans = replay.spans[static_cast<std::size_t>(rank)];
    Lane out(width);
    Lane in(width);
    for (std::size_t i = 0; i < events.size(); ++i) {
      const Event& event = events[i];
      const bool open = spans[i].end < spans[i].begin;
      if (event.kind == EventKind::kWait || (!open && spans[i].end == spans[i].begin)) {
        continue;  // waiting is blank, and an event that takes no time has no width
      }
      // An event that never began is drawn from its rank's arrival.
      const double came = arrivals[static_cast<std::size_t>(rank)][i].when;
      const int begin = scale.column(open ? came : spans[i].begin);
      const int end = open ? width : scale.column(spans[i].end);
      const bool works = event.kind == EventKind::kReduce || event.kind == EventKind::kCompute;
      // An asynchronous collective runs during its rank's computation.
      const bool beside = event.kind == EventKind::kCollective && event.async;
      Lane& lane = event.kind == EventKind::kSend || beside ? out : in;
      lane.put_span(begin, end, lines_of_label(event, signs), works ? signs.work : signs.transfer,
                    open, colour_of(event, options.colour));
    }
    picture += finish(fmt::format("rank {:<{}}  out  {}", rank, name_width, out.text()));
    picture += finish(fmt::format("{:{}}in   {}", "", margin - 5, in.text()));
  }
  if (drawn < world_size) {
    picture += fmt::format("{} and {} more ranks\n", signs.more, world_size - drawn);
  }
  picture += finish(fmt::format("{:{}}{}", "", margin, draw_axis(scale, seconds, width, signs)));
  return picture;
}

}  // namespace rankbox
