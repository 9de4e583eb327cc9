#include "viewer/schedule_svg.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "comm/errors.h"
#include "comm/label.h"
#include "viewer/html.h"
#include "viewer/messages.h"
#include "viewer/schedule_grid.h"
#include "viewer/svg_head.h"

namespace rankbox {
namespace {

constexpr std::size_t kMostRanks = 16;
constexpr std::size_t kMostBars = 600;
constexpr std::size_t kMostMessages = 2000;
// Pixels.
constexpr double kLane = 36;
constexpr double kTopOfLanes = 40;
constexpr double kLeftOfLanes = 70;
constexpr double kWidth = 900;
constexpr int kSeconds = 12;   // of the animation
constexpr double kShare = 75;  // per cent of it in which time passes; then the whole run is shown

struct Bar {
  std::size_t rank = 0;
  Span span;
  std::string label;
};

/// A label holds any 8 bytes; an SVG, characters.
std::string ascii(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

std::vector<Bar> bars_of(const Trace& trace, const Replay& replay) {
  std::vector<Bar> bars;
  for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
    for (std::size_t i = 0; i < trace.ranks[rank].size(); ++i) {
      const Span& span = replay.spans[rank][i];
      const Label label = label_of(trace.ranks[rank][i]);
      if (label.empty() || span.end < span.begin) continue;
      bars.push_back({rank, span, ascii(label.text())});
    }
  }
  return bars;
}

/// Returns the micro-batch of "F3": 3.
int number_of(const std::string& label) {
  const std::size_t at = label.find_first_of("0123456789");
  return at == std::string::npos ? 0 : std::stoi(label.substr(at, 3));
}

/// Passes forward and backward have one colour each; neighbours differ by its strength.
std::string fill_of(const std::string& label) {
  constexpr int kLightness[] = {46, 60, 52, 66};
  const int light = kLightness[number_of(label) % 4];
  const char kind = label.front();
  if (kind == 'F') return fmt::format("hsl(262 45% {}%)", light);
  if (kind == 'B') return fmt::format("hsl(24 70% {}%)", light - 10);
  return fmt::format("hsl(170 50% {}%)", light - 12);
}

class ScheduleSvg {
 public:
  ScheduleSvg(const Trace& trace, const Replay& replay)
      : trace_(trace), replay_(replay), bars_(bars_of(trace, replay)) {
    for (const double clock : replay.clocks) finish_ = std::max(finish_, clock);
    if (finish_ == 0) finish_ = 1;  // nothing takes time
  }

  std::size_t bars() const { return bars_.size(); }

  std::string draw(const std::string& title, const std::string& failure) {
    if (!failure.empty()) top_ += kFailureLine;
    const double height = top_ + kLane * static_cast<double>(trace_.ranks.size()) + 10;
    const SvgHead head = {
        title,
        fmt::format("A lane for each of {} ranks over time. {}; between them a rank is idle.",
                    trace_.ranks.size(),
                    has_schedule(trace_)
                        ? "F3 is the forward pass of micro-batch 3, B3 its backward pass"
                        : "Bars are what it computes"),
        failure};
    svg_ = open_svg(head, kWidth, height);
    add_styles();
    svg_ += ground_and_title(head, kWidth, height);
    for (std::size_t rank = 0; rank < trace_.ranks.size(); ++rank) add_lane(rank);
    for (const Message& message : match_messages(trace_)) add_message(message);
    for (const Bar& bar : bars_) add_bar(bar);
    return svg_ + "</svg>\n";
  }

 private:
  double x(double seconds) const {
    return kLeftOfLanes + seconds / finish_ * (kWidth - kLeftOfLanes - 12);
  }
  double y(std::size_t rank) const { return top_ + static_cast<double>(rank) * kLane; }

  /// Returns the class of what appears at this time: one keyframe rule for all of one moment.
  std::string appears_at(double seconds) const {
    return fmt::format("a{:.0f}", 1000 * seconds / finish_);
  }

  void add_styles() {
    svg_ +=
        "<style>\ntext{font:600 13px system-ui,'Segoe UI','DejaVu Sans',sans-serif;fill:#1f2328}\n"
        "text.m{text-anchor:middle;fill:#fff;font-size:12px} text.b{font-size:15px}\n"
        "text.f{fill:#c5221f}\n"
        ".bg{fill:#fff} .l{fill:#f3f4f6} .w{stroke:#8c959f;stroke-width:1.2}\n"
        "@media(prefers-color-scheme:dark){text{fill:#e8ebf0}.bg{fill:#12151b}.l{fill:#1b2029}}\n"
        "@media(prefers-reduced-motion:no-preference){\n";
    svg_ += fmt::format(
        ".s{{animation-duration:{}s;animation-iteration-count:infinite;"
        "animation-timing-function:step-end}}\n",
        kSeconds);
    std::map<std::string, double> moments;
    for (const Bar& bar : bars_) moments[appears_at(bar.span.begin)] = bar.span.begin;
    for (const Message& message : match_messages(trace_)) {
      const double begin = span_of(message.send).begin;
      moments[appears_at(begin)] = begin;
    }
    for (const auto& [name, seconds] : moments) {
      svg_ += fmt::format(
          "@keyframes {0}{{0%{{opacity:0}}{1:.2f}%,100%{{opacity:1}}}}.{0}{{animation-name:{0}}}\n",
          name, kShare * seconds / finish_);
    }
    svg_ += "}\n</style>\n";
  }

  const Span& span_of(EventId id) const {
    return replay_.spans[static_cast<std::size_t>(id.rank)][id.event];
  }

  void add_lane(std::size_t rank) {
    svg_ += fmt::format(
        "<rect class=\"l\" x=\"{:g}\" y=\"{:g}\" width=\"{:g}\" height=\"{:g}\"/>"
        "<text x=\"12\" y=\"{:g}\">rank {}</text>\n",
        kLeftOfLanes, y(rank) + 2, kWidth - kLeftOfLanes - 12, kLane - 4, y(rank) + kLane / 2 + 5,
        rank);
  }

  void add_message(const Message& message) {
    const Span &send = span_of(message.send), &recv = span_of(message.recv);
    if (send.end < send.begin || recv.end < recv.begin) return;
    svg_ += fmt::format(
        "<line class=\"w s {}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
        appears_at(send.begin), x(send.begin),
        y(static_cast<std::size_t>(message.send.rank)) + kLane / 2, x(recv.end),
        y(static_cast<std::size_t>(message.recv.rank)) + kLane / 2);
  }

  void add_bar(const Bar& bar) {
    const double left = x(bar.span.begin), wide = std::max(1.0, x(bar.span.end) - left - 1);
    svg_ += fmt::format(
        "<g class=\"s {}\"><rect x=\"{:.1f}\" y=\"{:g}\" width=\"{:.1f}\" height=\"{:g}\" rx=\"3\" "
        "fill=\"{}\"/>",
        appears_at(bar.span.begin), left, y(bar.rank) + 5, wide, kLane - 10, fill_of(bar.label));
    if (wide > 8 * static_cast<double>(bar.label.size())) {
      svg_ += fmt::format("<text class=\"m\" x=\"{:.1f}\" y=\"{:g}\">{}</text>", left + wide / 2,
                          y(bar.rank) + kLane / 2 + 4, escape_html(bar.label));
    }
    svg_ += "</g>\n";
  }

  const Trace& trace_;
  const Replay& replay_;
  const std::vector<Bar> bars_;
  double finish_ = 0;         // virtual seconds
  double top_ = kTopOfLanes;  // of the lanes
  std::string svg_;
};

}  // namespace

void write_schedule_svg(std::ostream& out, const std::string& title, const std::string& failure,
                        const Trace& trace, const Replay& replay) {
  ScheduleSvg picture(trace, replay);
  const std::size_t messages = match_messages(trace).size();
  if (trace.ranks.size() > kMostRanks || picture.bars() > kMostBars || messages > kMostMessages) {
    throw InvalidArgument(fmt::format(
        "a picture of a schedule has at most {} ranks, {} computations and {} messages, not {}, {} "
        "and {}",
        kMostRanks, kMostBars, kMostMessages, trace.ranks.size(), picture.bars(), messages));
  }
  out << picture.draw(title, failure);
}

}  // namespace rankbox
