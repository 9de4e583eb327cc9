#include "viewer/held_svg.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm/errors.h"
#include "viewer/holdings.h"
#include "viewer/links.h"
#include "viewer/svg_head.h"

namespace rankbox {
namespace {

constexpr std::size_t kMostRanks = 16;
constexpr std::size_t kMostSteps = 400;
constexpr std::size_t kMostMoves = 5000;
constexpr double kRow = 40, kTop = 64, kLeft = 70, kGap = 20, kRight = 20;  // pixels
constexpr double kLeastName = 64, kLeastFailure = 640;                      // widths
constexpr std::size_t kLastSteps = 3;  // how long the end is shown

struct Box {
  double x = 0, y = 0, w = 0, h = 0;
};

/// What a cell holds from this step on.
struct CellState {
  std::size_t step = 0;
  std::size_t contents = 0;
};

/// A piece on its way between two cells; it arrives at the end of this step.
struct Traveller {
  std::size_t step = 0;
  std::size_t from = 0;
  std::size_t to = 0;
};

/// Returns the ranks' colour: their hues are equally far apart.
std::string colour_of(std::size_t rank, std::size_t ranks, bool is_dark) {
  const std::size_t hue = (215 + 360 * rank / std::max<std::size_t>(ranks, 4)) % 360;
  return fmt::format("hsl({} {})", hue, is_dark ? "62% 68%" : "58% 40%");
}

class HeldSvg {
 public:
  HeldSvg(const Trace& trace, const Replay& replay, const Holdings& held,
          const std::string& failure)
      : trace_(trace), replay_(replay), held_(held), failure_(failure) {
    if (!failure_.empty()) top_ += kFailureLine;
    find_steps();
    place_cells();
    find_states();
    find_travellers();
    if (travellers_.size() + held_.changes.size() > kMostMoves) {
      throw InvalidArgument(
          fmt::format("{} messages and changes are too many for a picture: at most {}",
                      travellers_.size() + held_.changes.size(), kMostMoves));
    }
  }

  std::string draw(const std::string& title) {
    const SvgHead head = {title, description(), failure_};
    width_ = std::max(width_, 24 + 8.8 * static_cast<double>(title_of(head).size()));
    if (!failure_.empty()) width_ = std::max(width_, kLeastFailure);
    const double height = top_ + kRow * static_cast<double>(ranks()) + 6;
    svg_ = open_svg(head, width_, height);
    add_styles();
    svg_ += ground_and_title(head, width_, height);
    add_names();
    for (std::size_t cell = 0; cell < boxes_.size(); ++cell) add_cell(cell);
    for (const Traveller& each : travellers_) add_traveller(each);
    return svg_ + "</svg>\n";
  }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    svg_ += fmt::format(format, std::forward<Args>(args)...);
  }

  std::size_t ranks() const { return trace_.ranks.size(); }

  double end_of(EventId id) const {
    const Span& span = replay_.spans[static_cast<std::size_t>(id.rank)][id.event];
    return span.end < span.begin ? -1 : span.end;
  }

  /// A step ends when a cell changes or a message arrives.
  void find_steps() {
    std::set<double> ends;
    for (const HoldingChange& change : held_.changes) {
      if (change.event.event != HoldingChange::kStart) ends.insert(end_of(change.event));
    }
    for (int rank = 0; rank < static_cast<int>(ranks()); ++rank) {
      const std::vector<Event>& events = trace_.ranks[static_cast<std::size_t>(rank)];
      for (std::size_t i = 0; i < events.size(); ++i) {
        if (receive_of({rank, i})) ends.insert(end_of({rank, i}));
      }
    }
    ends.erase(-1);
    slack_ = ends.empty() ? 0 : *ends.rbegin() * 1e-12;
    for (const double end : ends) {
      if (step_ends_.empty() || end > step_ends_.back() + slack_) step_ends_.push_back(end);
    }
    if (step_ends_.size() > kMostSteps) {
      throw InvalidArgument(fmt::format("{} steps are too many for a picture: at most {}",
                                        step_ends_.size(), kMostSteps));
    }
  }

  /// Returns the step that the event ends, from 1.
  std::size_t step_of(EventId id) const {
    // The last step that began to end before it.
    const auto after = std::ranges::upper_bound(step_ends_, end_of(id));
    return static_cast<std::size_t>(after - step_ends_.begin());
  }

  void place_cells() {
    for (const HeldBuffer& buffer : held_.buffers) {
      const auto column = static_cast<std::size_t>(buffer.column);
      columns_.resize(std::max(columns_.size(), column + 1));
      columns_[column] = buffer.begins.size();
    }
    std::size_t pieces = 0;
    for (const std::size_t count : columns_) pieces += count;
    cell_ = std::clamp(640.0 / static_cast<double>(pieces), 14.0, 90.0);
    double x = kLeft;
    for (const std::size_t count : columns_) {
      lefts_.push_back(x);
      x += static_cast<double>(count) * cell_ + kGap;
    }
    width_ = x - kGap + kRight;
    for (const HeldBuffer& buffer : held_.buffers) {
      const double left = lefts_[static_cast<std::size_t>(buffer.column)];
      for (std::size_t piece = 0; piece < buffer.begins.size(); ++piece) {
        boxes_.push_back({left + static_cast<double>(piece) * cell_ + 1.5,
                          top_ + buffer.rank * kRow + 3, cell_ - 3, kRow - 6});
        names_.push_back(fmt::format("c{}", piece));
      }
    }
  }

  void find_states() {
    states_.assign(boxes_.size(), {{0, 0}});
    for (const HoldingChange& change : held_.changes) {
      const bool is_start = change.event.event == HoldingChange::kStart;
      const std::size_t step = is_start ? 0 : step_of(change.event);
      std::vector<CellState>& states = states_[static_cast<std::size_t>(change.cell)];
      if (states.back().step == step) {
        states.back().contents = change.contents;
      } else {
        states.push_back({step, change.contents});
      }
    }
  }

  void find_travellers() {
    std::map<std::pair<int, std::size_t>, std::vector<std::size_t>> changed;  // by event
    for (const HoldingChange& change : held_.changes) {
      changed[{change.event.rank, change.event.event}].push_back(
          static_cast<std::size_t>(change.cell));
    }
    for (int rank = 0; rank < static_cast<int>(ranks()); ++rank) {
      const std::vector<Event>& events = trace_.ranks[static_cast<std::size_t>(rank)];
      for (std::size_t i = 0; i < events.size(); ++i) {
        const std::optional<EventId> recv = receive_of({rank, i});
        if (!recv || end_of({rank, i}) < 0) continue;
        const EventId send = link_of(*recv);
        const std::string& label = held_.labels[static_cast<std::size_t>(rank)][recv->event];
        if (send.rank < 0) continue;
        const std::vector<std::size_t> from = cells_of(send.rank, label);
        const auto written = changed.find({rank, i});
        const std::vector<std::size_t> to =
            written != changed.end() ? written->second : cells_of(rank, label);
        for (std::size_t k = 0; k < from.size() && !to.empty(); ++k)
          travellers_.push_back({step_of({rank, i}), from[k], to[std::min(k, to.size() - 1)]});
      }
    }
  }

  const EventId& link_of(EventId id) const {
    return links_[static_cast<std::size_t>(id.rank)][id.event];
  }

  /// Returns the receive that ends with this event, if one does.
  std::optional<EventId> receive_of(EventId id) const {
    const Event& event = trace_.ranks[static_cast<std::size_t>(id.rank)][id.event];
    if (event.kind == EventKind::kRecv && !event.async) return id;
    if (event.kind != EventKind::kWait) return std::nullopt;
    const EventId of = link_of(id);
    if (of.rank < 0) return std::nullopt;
    const Event& operation = trace_.ranks[static_cast<std::size_t>(of.rank)][of.event];
    if (operation.kind != EventKind::kRecv) return std::nullopt;
    return of;
  }

  /// Returns the rank's cells where what is labelled "c2–c4" is at home; of "r3", all cells.
  std::vector<std::size_t> cells_of(int rank, std::string_view label) const {
    std::size_t first = 0, last = 0;
    const bool is_range = std::sscanf(std::string(label).c_str(), "c%zu–c%zu", &first, &last) >= 1;
    last = std::max(first, last);
    std::vector<std::size_t> cells;
    for (const HeldBuffer& buffer : held_.buffers) {
      if (buffer.rank != rank || buffer.begins.size() <= last) continue;
      if (!is_range) last = buffer.begins.size() - 1;
      for (std::size_t i = first; i <= last; ++i)
        cells.push_back(static_cast<std::size_t>(buffer.first_cell) + i);
      break;
    }
    return cells;
  }

  std::string description() const {
    return fmt::format(
        "Each of {} ranks holds a row of pieces. A piece has the colours of the ranks that "
        "contributed to it, and is dark when all have. Messages arrive in {} steps.",
        ranks(), step_ends_.size());
  }

  // ---- Styles ----

  std::size_t seconds() const { return step_ends_.size() + 1 + kLastSteps; }
  /// Returns the part of the animation, in per cent, at which a step ends.
  double percent(double step) const { return 100 * step / static_cast<double>(seconds()); }

  void add_styles() {
    add("<style>\n"
        "text{{font:600 13px system-ui,'Segoe UI','DejaVu Sans',sans-serif;fill:#1f2328}}\n"
        "text.m{{text-anchor:middle}} text.on{{fill:#fff}} text.b{{font-size:15px}}\n"
        ".bg{{fill:#fff}} .e{{fill:#f3f4f6;stroke:#d0d7de}} .all{{fill:#39424f}} .p{{fill:#fff}}\n"
        "text.f{{fill:#c5221f}} .two{{fill:none;stroke:#d43a2f;stroke-width:3}}\n");
    for (std::size_t rank = 0; rank < ranks(); ++rank)
      add(".r{}{{fill:{}}}", rank, colour_of(rank, ranks(), false));
    add("\n@media(prefers-color-scheme:dark){{text{{fill:#e8ebf0}}text.on{{fill:#0c1017}}"
        ".bg,.p{{fill:#12151b}}.e{{fill:#1b2029;stroke:#343c4a}}.all{{fill:#c9d1dc}}");
    for (std::size_t rank = 0; rank < ranks(); ++rank)
      add(".r{}{{fill:{}}}", rank, colour_of(rank, ranks(), true));
    add("}}\n.s{{opacity:0}} .s.z{{opacity:1}} .t{{opacity:0}}\n"
        "@media(prefers-reduced-motion:no-preference){{\n"
        ".s,.t{{animation-duration:{0}s;animation-iteration-count:infinite}}\n"
        ".s{{animation-timing-function:step-end}} "
        ".t{{animation-timing-function:ease-in-out}}\n",
        seconds());
    std::set<std::pair<std::size_t, std::size_t>> spans;  // [begin, end) of states, in steps
    for (const std::vector<CellState>& states : states_) {
      for (std::size_t i = 0; i < states.size(); ++i) spans.insert(span_of(states, i));
    }
    for (const auto& [begin, end] : spans) {
      add("@keyframes {}{{0%{{opacity:{}}}", name_of_span(begin, end), begin == 0 ? 1 : 0);
      if (begin > 0) add("{:.3f}%{{opacity:1}}", percent(static_cast<double>(begin)));
      if (end < seconds()) add("{:.3f}%{{opacity:0}}", percent(static_cast<double>(end)));
      add("100%{{opacity:{}}}}}\n", end < seconds() ? 0 : 1);
      add(".{0}{{animation-name:{0}}}\n", name_of_span(begin, end));
    }
    add("}}\n</style>\n");
  }

  std::pair<std::size_t, std::size_t> span_of(const std::vector<CellState>& states,
                                              std::size_t i) const {
    return {states[i].step, i + 1 < states.size() ? states[i + 1].step : seconds()};
  }

  static std::string name_of_span(std::size_t begin, std::size_t end) {
    return fmt::format("v{}_{}", begin, end);
  }

  // ---- Shapes ----

  void add_names() {
    for (std::size_t rank = 0; rank < ranks(); ++rank) {
      add("<text x=\"12\" y=\"{:g}\">rank {}</text>\n",
          top_ + (static_cast<double>(rank) + 0.5) * kRow + 5, rank);
    }
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      if (columns_.size() > 1)
        add("<text x=\"{:g}\" y=\"{:g}\">{}{}</text>\n", lefts_[column], top_ - 24,
            static_cast<double>(columns_[column]) * cell_ < kLeastName ? "" : "tensor ",
            column + 1);
      if (columns_[column] == 1 || cell_ < 22) continue;
      for (std::size_t i = 0; i < columns_[column]; ++i) {
        add("<text class=\"m\" x=\"{:g}\" y=\"{:g}\">c{}</text>\n",
            lefts_[column] + (static_cast<double>(i) + 0.5) * cell_, top_ - 8, i);
      }
    }
  }

  void add_cell(std::size_t cell) {
    const Box& box = boxes_[cell];
    add("<rect class=\"e\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n", box.x,
        box.y, box.w, box.h);
    const std::vector<CellState>& states = states_[cell];
    for (std::size_t i = 0; i < states.size(); ++i) {
      if (states[i].contents == 0) continue;
      const auto [begin, end] = span_of(states, i);
      add("<g class=\"s {}{}\">", name_of_span(begin, end), end == seconds() ? " z" : "");
      add_piece(box, held_.contents[states[i].contents], names_[cell]);
      add("</g>\n");
    }
  }

  /// @param column the label that a piece at this place needs not name
  void add_piece(const Box& box, const PieceContents& contents, const std::string& column) {
    const bool is_complete = contents.from.size() == ranks() && ranks() > 1;
    const bool is_solid = is_complete || contents.from.size() == 1;
    const auto stripe = [&](const std::string& name, double x, double w) {
      add("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>", name,
          x, box.y, w, box.h);
    };
    bool is_twice = false;
    std::string text;
    for (const auto& [rank, times] : contents.from) {
      const double w = box.w / static_cast<double>(ranks());
      const std::string name = fmt::format("r{}", rank);
      if (!is_complete) stripe(name, is_solid ? box.x : box.x + rank * w, is_solid ? box.w : w);
      is_twice |= times > 1;
      text += fmt::format("{}{}{}", text.empty() ? "" : "+",
                          times > 1 ? fmt::format("{}×", times) : "", rank);
    }
    if (is_complete) stripe("all", box.x, box.w);
    if (is_twice) stripe("two", box.x + 1.5, box.w - 3);
    if (is_complete && !is_twice) text = "all";
    if (contents.label.starts_with('c') && contents.label != column) text += " " + contents.label;
    const double wide = 8.2 * static_cast<double>(text.size());
    if (wide > box.w) return;
    const double middle = box.x + box.w / 2;
    if (!is_solid) {
      add("<rect class=\"p\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"16\"/>",
          middle - wide / 2 - 2, box.y + box.h / 2 - 8, wide + 4);
    }
    add("<text class=\"m{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", is_solid ? " on" : "", middle,
        box.y + box.h / 2 + 5, text);
  }

  /// Shows the piece as it was just before it arrived.
  void add_traveller(const Traveller& each) {
    std::size_t contents = 0;
    for (const CellState& state : states_[each.from]) {
      if (state.step < each.step) contents = state.contents;
    }
    if (contents == 0) return;
    const Box &a = boxes_[each.from], &b = boxes_[each.to];
    const std::string name = fmt::format("t{}", names_of_travellers_++);
    const auto step = static_cast<double>(each.step);
    add("<style>@media(prefers-reduced-motion:no-preference){{@keyframes {0}{{0%,{1:.3f}%"
        "{{opacity:0;transform:none}}{2:.3f}%{{opacity:1;transform:none}}{3:.3f}%{{opacity:1;"
        "transform:translate({4:.1f}px,{5:.1f}px)}}{6:.3f}%,100%{{opacity:0;"
        "transform:translate({4:.1f}px,{5:.1f}px)}}}}.{0}{{animation-name:{0}}}}}</style>",
        name, percent(step - 0.81), percent(step - 0.8), percent(step - 0.05), b.x - a.x, b.y - a.y,
        percent(step));
    add("<g class=\"t {}\">", name);
    add_piece({a.x, a.y + 4, a.w, a.h - 8}, held_.contents[contents], names_[each.from]);
    add("</g>\n");
  }

  const Trace& trace_;
  const Replay& replay_;
  const Holdings& held_;
  const std::string& failure_;
  const std::vector<std::vector<EventId>> links_ = link_events(trace_);
  double slack_ = 0;                            // between the ends of one step, in seconds
  std::vector<double> step_ends_;               // virtual seconds
  std::vector<std::size_t> columns_;            // pieces of each
  std::vector<double> lefts_;                   // [column]
  std::vector<Box> boxes_;                      // [cell]
  std::vector<std::string> names_;              // [cell] "c3", by its place in the buffer
  std::vector<std::vector<CellState>> states_;  // [cell]
  std::vector<Traveller> travellers_;
  int names_of_travellers_ = 0;
  double top_ = kTop;            // of the first rank
  double cell_ = 0, width_ = 0;  // widths of a cell and of the picture
  std::string svg_;
};

}  // namespace

void write_held_svg(std::ostream& out, const std::string& title, const std::string& failure,
                    const Trace& trace, const Replay& replay) {
  if (trace.ranks.size() > kMostRanks) {
    throw InvalidArgument(fmt::format("a picture of pieces has at most {} ranks, not {}",
                                      kMostRanks, trace.ranks.size()));
  }
  const Holdings held = holdings_of(trace);
  if (held.buffers.empty()) {
    throw InvalidArgument(
        "there is no picture of what ranks hold: either no call moves a tensor's data, or a rank "
        "has more than 8 such tensors, or there are too many calls; --html shows any run");
  }
  out << HeldSvg(trace, replay, held, failure).draw(title);
}

}  // namespace rankbox
