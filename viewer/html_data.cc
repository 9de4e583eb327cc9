#include "viewer/html_data.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "viewer/arrivals.h"
#include "viewer/critical_path.h"
#include "viewer/holdings.h"
#include "viewer/idle_share.h"
#include "viewer/links.h"
#include "viewer/waits_json.h"

namespace rankbox {
namespace {

using Json = nlohmann::ordered_json;

/// Numbers strings, or other repeated values, in the order of their first use.
template <class T>
class Table {
 public:
  std::int64_t number(const T& value) {
    const auto [at, is_new] =
        numbers_.try_emplace(value, static_cast<std::int64_t>(values_.size()));
    if (is_new) values_.push_back(value);
    return at->second;
  }
  const std::vector<T>& values() const { return values_; }

 private:
  std::map<T, std::int64_t> numbers_;
  std::vector<T> values_;
};

class Collector {
 public:
  Collector(const Trace& trace, const Replay& replay, const HtmlOptions& options)
      : trace_(trace), replay_(replay), options_(options) {
    starts_.push_back(0);
    for (const std::vector<Event>& events : trace.ranks)
      starts_.push_back(starts_.back() + static_cast<std::int64_t>(events.size()));
  }

  HtmlData collect() {
    HtmlData data;
    add_calls(data.columns);
    add_links(data.columns);
    add_times(data.columns);
    add_snapshots(data.columns);
    data.head = head();
    add_held(data);
    if (options_.deadlock)
      data.head["deadlock"] = waits_json(*options_.deadlock, options_.display_name);
    data.head["columns"] = data.columns.index();
    return data;
  }

 private:
  std::int64_t number(EventId id) const {
    return starts_[static_cast<std::size_t>(id.rank)] + static_cast<std::int64_t>(id.event);
  }

  /// Adds one column: of(event) for every event.
  template <class T, class Fn>
  std::vector<T> each(const Fn& of) const {
    std::vector<T> column;
    column.reserve(static_cast<std::size_t>(starts_.back()));
    for (std::size_t rank = 0; rank < trace_.ranks.size(); ++rank) {
      for (std::size_t i = 0; i < trace_.ranks[rank].size(); ++i) {
        column.push_back(static_cast<T>(of(trace_.ranks[rank][i], rank, i)));
      }
    }
    return column;
  }
  template <class Fn>
  std::vector<std::int64_t> each_whole(const Fn& of) const {
    return each<std::int64_t>(of);
  }

  void add_calls(Columns& columns) {
    columns.add_whole("what", each_whole([&](const Event& event, auto, auto) {
                        const Label label = label_of(event);
                        const std::string name = name_of(event);
                        return names_.number(label.empty() ? name : name + " " + label.text());
                      }));
    columns.add("op", each<std::uint8_t>([](const Event& event, auto, auto) { return event.op; }));
    columns.add("dtype",
                each<std::uint8_t>([](const Event& event, auto, auto) { return event.dtype; }));
    columns.add_whole("peer", each_whole([](const Event& event, auto, auto) {
                        return std::int64_t{event.peer} + 1;
                      }));
    columns.add_whole("bytes", each_whole([](const Event& event, auto, auto) {
                        const bool moved = event.kind != EventKind::kCompute;
                        return moved ? std::max<std::int64_t>(event.bytes, 0) : 0;
                      }));
    columns.add("memory", each<float>([](const Event& event, auto, auto) { return event.memory; }));
    columns.add_whole("place", each_whole([&](const Event& event, auto, auto) {
                        return places_.number(place_of(event));
                      }));
    if (trace_.groups.size() > 1) {
      columns.add_whole("group",
                        each_whole([](const Event& event, auto, auto) { return event.group; }));
    }
  }

  using PlaceId = std::pair<const char*, std::int64_t>;  // file (by address), line

  static PlaceId place_of(const Event& event) {
    const std::int64_t line = event.place.line();
    return {line == 0 ? "" : event.place.file_name(), line};
  }

  void add_links(Columns& columns) {
    const std::vector<std::vector<EventId>> links = link_events(trace_);
    columns.add_whole("link", each_whole([&](const Event&, std::size_t rank, std::size_t i) {
                        const EventId link = links[rank][i];
                        return link.rank < 0 ? 0 : number(link) + 1;
                      }));
    std::vector<std::int64_t> path;
    std::vector<std::uint8_t> flags =
        each<std::uint8_t>([](const Event& event, auto, auto) { return flags_of(event); });
    for (const EventId id : critical_path(trace_, replay_)) {
      path.push_back(number(id));
      flags[static_cast<std::size_t>(path.back())] |= kCritical;
      // A message is one event of the path and two of the picture.
      const EventId other = links[static_cast<std::size_t>(id.rank)][id.event];
      if (other.rank >= 0 && begins_with(id, other))
        flags[static_cast<std::size_t>(number(other))] |= kCritical;
    }
    columns.add("flags", flags);
    columns.add_whole("path", path);
  }

  bool begins_with(EventId a, EventId b) const { return span(a).begin == span(b).begin; }

  const Span& span(EventId id) const {
    return replay_.spans[static_cast<std::size_t>(id.rank)][id.event];
  }

  static std::uint8_t flags_of(const Event& event) {
    return static_cast<std::uint8_t>((event.done ? kDone : 0) | (event.async ? kAsync : 0) |
                                     (event.paired ? kPaired : 0) |
                                     (event.buffered ? kBuffered : 0));
  }

  void add_times(Columns& columns) const {
    const std::vector<std::vector<Arrival>> arrivals = find_arrivals(trace_, replay_);
    const auto is_open = [&](std::size_t rank, std::size_t i) {
      return replay_.spans[rank][i].end < replay_.spans[rank][i].begin;
    };
    columns.add("virtualBegin", each<double>([&](const Event&, std::size_t rank, std::size_t i) {
                  return is_open(rank, i) ? arrivals[rank][i].when : replay_.spans[rank][i].begin;
                }));
    columns.add("virtualEnd", each<double>([&](const Event&, std::size_t rank, std::size_t i) {
                  return is_open(rank, i) ? -1 : replay_.spans[rank][i].end;
                }));
    columns.add("waited", each<float>([&](const Event& event, std::size_t rank, std::size_t i) {
                  if (is_open(rank, i)) return 0.0;
                  const Span& when = replay_.spans[rank][i];
                  return event.kind == EventKind::kWait ? when.end - when.begin
                                                        : when.begin - arrivals[rank][i].when;
                }));
    columns.add_whole("wallBegin",
                      each_whole([](const Event& event, auto, auto) { return event.begin_ns; }));
    columns.add_whole("wallEnd",
                      each_whole([](const Event& event, auto, auto) { return event.end_ns; }));
  }

  void add_snapshots(Columns& columns) const {
    std::vector<std::int64_t> events;
    std::vector<std::int64_t> starts;
    std::vector<double> values;
    for (std::size_t rank = 0; rank < trace_.snapshots.size(); ++rank) {
      for (const Snapshot& snapshot : trace_.snapshots[rank]) {
        events.push_back(number({static_cast<int>(rank), snapshot.event}));
        starts.push_back(static_cast<std::int64_t>(values.size()));
        values.insert(values.end(), snapshot.values.begin(), snapshot.values.end());
      }
    }
    starts.push_back(static_cast<std::int64_t>(values.size()));
    columns.add_whole("snapshotEvent", events);
    columns.add_whole("snapshotStart", starts);
    columns.add("snapshotValues", values);
  }

  /// What ranks held: see holdings.h.
  void add_held(HtmlData& data) const {
    const Holdings held = holdings_of(trace_);
    if (held.buffers.empty()) return;
    auto buffers = Json::array();
    for (const HeldBuffer& each : held.buffers)
      buffers.push_back({{"rank", each.rank},
                         {"begins", each.begins},
                         {"bytes", each.bytes},
                         {"column", each.column}});
    auto contents = Json::array();
    for (const PieceContents& each : held.contents)
      contents.push_back({{"label", each.label}, {"from", Json::array()}});
    for (std::size_t i = 0; i < held.contents.size(); ++i) {
      for (const auto& [rank, times] : held.contents[i].from)
        contents[i]["from"].push_back({rank, times});
    }
    Table<std::string> labels;
    data.columns.add_whole("label", each_whole([&](const Event&, std::size_t rank, std::size_t i) {
                             return labels.number(held.labels[rank][i]);
                           }));
    std::vector<std::int64_t> events, cells, numbers;
    for (const HoldingChange& change : held.changes) {
      const bool is_start = change.event.event == HoldingChange::kStart;
      events.push_back(is_start ? 0 : number(change.event) + 1);
      cells.push_back(change.cell);
      numbers.push_back(static_cast<std::int64_t>(change.contents));
    }
    data.columns.add_whole("heldEvent", events);
    data.columns.add_whole("heldCell", cells);
    data.columns.add_whole("heldContents", numbers);
    data.head["held"] = {{"buffers", std::move(buffers)},
                         {"contents", std::move(contents)},
                         {"labels", labels.values()}};
  }

  Json head() const {
    std::vector<const char*> ops;
    for (const ReduceOp op : kReduceOps) ops.push_back(name_of(op));
    std::vector<const char*> dtypes;
    for (const DType dtype : kDTypes) dtypes.push_back(name_of(dtype));
    return {{"starts", starts_},
            {"nodes", trace_.nodes},
            {"groups", trace_.groups},
            {"clocks", replay_.clocks},
            {"idle", idle_shares(trace_, replay_)},
            {"peak", options_.peak_bytes},
            {"names", names_.values()},
            {"ops", ops},
            {"dtypes", dtypes},
            {"places", places()},
            {"sources", sources()},
            {"schedule", options_.schedule}};
  }

  std::string shown(const std::string& file) const {
    return options_.display_name ? options_.display_name(file) : file;
  }

  /// Returns `[[file, line, text of that line]]`.
  Json places() const {
    auto places = Json::array();
    for (const auto& [file, line] : places_.values()) {
      const std::vector<std::string>& lines = lines_of(file);
      const bool is_known = line > 0 && line <= static_cast<std::int64_t>(lines.size());
      constexpr std::size_t kMostBytes = 500;
      const std::string text =
          is_known ? lines[static_cast<std::size_t>(line - 1)].substr(0, kMostBytes) : "";
      places.push_back({shown(file), line, text});
    }
    return places;
  }

  /// Returns the files that most events name, as `[{file, lines}]`. Long ones are left out: the
  /// page is about a program of some hundred lines.
  Json sources() const {
    constexpr std::size_t kMostFiles = 3;
    constexpr std::size_t kMostLines = 500;
    constexpr std::size_t kMostBytes = 100'000;
    std::map<std::string, std::int64_t> events;
    for (const std::vector<Event>& of_rank : trace_.ranks) {
      for (const Event& event : of_rank) {
        if (event.place.line() > 0) ++events[event.place.file_name()];
      }
    }
    std::vector<std::pair<std::int64_t, std::string>> files;
    for (const auto& [file, count] : events) files.emplace_back(-count, file);
    std::ranges::sort(files);
    auto sources = Json::array();
    for (const auto& [count, file] : files) {
      const std::vector<std::string>& lines = lines_of(file);
      std::size_t bytes = 0;
      for (const std::string& line : lines) bytes += line.size();
      const bool is_short = lines.size() <= kMostLines && bytes <= kMostBytes;
      if (lines.empty() || !is_short || sources.size() == kMostFiles) continue;
      sources.push_back({{"file", shown(file)}, {"lines", lines}});
    }
    return sources;
  }

  const std::vector<std::string>& lines_of(const std::string& file) const {
    const auto [at, is_new] = lines_.try_emplace(file);
    if (is_new && options_.source_lines && !file.empty()) at->second = options_.source_lines(file);
    return at->second;
  }

  const Trace& trace_;
  const Replay& replay_;
  const HtmlOptions& options_;
  std::vector<std::int64_t> starts_;
  Table<std::string> names_;
  Table<PlaceId> places_;
  mutable std::map<std::string, std::vector<std::string>> lines_;  // by file
};

}  // namespace

HtmlData html_data(const Trace& trace, const Replay& replay, const HtmlOptions& options) {
  return Collector(trace, replay, options).collect();
}

}  // namespace rankbox
