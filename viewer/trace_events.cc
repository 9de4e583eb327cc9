#include "viewer/trace_events.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "viewer/links.h"
#include "viewer/messages.h"

namespace rankbox {
namespace {

constexpr double kMicro = 1e6;

/// By process id.
enum Timebase : int { kVirtual = 1, kWall = 2 };

/// Begin and end in seconds.
using Interval = std::pair<double, double>;

/// The lanes of a rank. The first has the rank's number, as readers expect.
enum Lane : int { kCalls, kSendPort, kRecvPort, kLanes };

constexpr const char* kLaneNames[] = {"", " sends", " receives"};

/// Returns, per rank and event, the wait for what this event started; rank -1 if there is none.
std::vector<std::vector<EventId>> find_waits(const Trace& trace) {
  std::vector<std::vector<EventId>> waits;
  for (const std::vector<Event>& events : trace.ranks) waits.emplace_back(events.size());
  const std::vector<std::vector<EventId>> links = link_events(trace);
  for (int rank = 0; rank < static_cast<int>(trace.ranks.size()); ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    for (std::size_t i = 0; i < links[at].size(); ++i) {
      const bool is_wait = trace.ranks[at][i].kind == EventKind::kWait;
      if (is_wait && links[at][i].rank == rank) waits[at][links[at][i].event] = {rank, i};
    }
  }
  return waits;
}

/// Returns the text as a JSON string.
std::string quoted(const std::string& text) {
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  if (std::ranges::all_of(text, is_plain)) return '"' + text + '"';
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Objects are formatted one by one: building them as values takes seven times as long.
class Writer {
 public:
  Writer(std::ostream& out, const Trace& trace, const Replay& replay)
      : out_(out), trace_(trace), replay_(replay), waits_(find_waits(trace)) {}

  void write() {
    text_ += R"({"displayTimeUnit":"ns","traceEvents":[)";
    for (const Timebase timebase : {kVirtual, kWall}) {
      write_names(timebase);
      for (int rank = 0; rank < world_size(); ++rank) write_rank(timebase, rank);
      write_arrows(timebase);
    }
    text_ += "\n]}\n";
    out_ << text_;
  }

 private:
  int world_size() const { return static_cast<int>(trace_.ranks.size()); }
  const std::vector<Event>& events(int rank) const {
    return trace_.ranks[static_cast<std::size_t>(rank)];
  }
  const Event& event(EventId id) const { return events(id.rank)[id.event]; }

  int thread(int rank, Lane lane) const { return rank + lane * world_size(); }

  /// Returns the lane of an event.
  Lane lane_of(Timebase timebase, const Event& event) const {
    // The halves of a sendrecv start together, but each transfer begins when its partner arrives.
    const bool is_half = event.paired && event.kind != EventKind::kWait;
    if (timebase == kWall || !(event.async || is_half)) return kCalls;
    return event.kind == EventKind::kRecv ? kRecvPort : kSendPort;
  }

  /// Returns false if it never ended.
  bool interval(Timebase timebase, EventId id, Interval& interval) const {
    if (timebase == kVirtual) {
      const Span& span = replay_.spans[static_cast<std::size_t>(id.rank)][id.event];
      interval = {span.begin, span.end};
      return span.end >= span.begin;
    }
    const Event& wall = event(id);
    interval = {static_cast<double>(wall.begin_ns) * 1e-9, static_cast<double>(wall.end_ns) * 1e-9};
    return wall.done;
  }

  template <class... Args>
  void write(fmt::format_string<Args...> object, Args&&... args) {
    text_ += first_ ? "\n" : ",\n";
    first_ = false;
    fmt::format_to(std::back_inserter(text_), object, std::forward<Args>(args)...);
    if (text_.size() < kPiece) return;
    out_ << text_;
    text_.clear();
  }

  void write_names(Timebase timebase) {
    write(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"{}"}}}})",
          static_cast<int>(timebase), timebase == kVirtual ? "virtual time" : "wall clock");
    for (int rank = 0; rank < world_size(); ++rank) {
      for (const Lane lane : {kCalls, kSendPort, kRecvPort}) {
        if (!is_used(timebase, rank, lane)) continue;
        write(
            R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"rank {}{}"}}}})",
            static_cast<int>(timebase), thread(rank, lane), rank, kLaneNames[lane]);
        write(R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},)"
              R"("args":{{"sort_index":{}}}}})",
              static_cast<int>(timebase), thread(rank, lane), rank * kLanes + lane);
      }
    }
  }

  bool is_used(Timebase timebase, int rank, Lane lane) const {
    return lane == kCalls ||
           std::any_of(events(rank).begin(), events(rank).end(),
                       [&](const Event& event) { return lane_of(timebase, event) == lane; });
  }

  /// A counter: readers draw it as a curve.
  void write_memory(Timebase timebase, int rank, double seconds, float bytes) {
    write(R"({{"ph":"C","name":"memory of rank {}","pid":{},"ts":{},"args":{{"bytes":{}}}}})", rank,
          static_cast<int>(timebase), seconds * kMicro, bytes);
  }

  void write_rank(Timebase timebase, int rank) {
    double now = 0;    // the end of the last span in the rank's own lane
    float memory = 0;  // as last written
    for (std::size_t i = 0; i < events(rank).size(); ++i) {
      const EventId id{rank, i};
      const Event& what = event(id);
      if (what.memory != memory) {
        const bool is_wall = timebase == kWall;
        write_memory(timebase, rank, is_wall ? static_cast<double>(what.begin_ns) * 1e-9 : now,
                     memory = what.memory);
      }
      Interval when;
      if (!interval(timebase, id, when)) continue;
      const Lane lane = lane_of(timebase, what);
      // In virtual time a blocking call's span is the transfer; the time before it is waiting.
      const bool waited = timebase == kVirtual && lane == kCalls && what.kind != EventKind::kWait;
      if (waited && when.first > now) write_slice(timebase, id, lane, "wait", {now, when.first});
      const Label label = label_of(what);
      write_slice(timebase, id, lane, label.empty() ? name_of(what) : label.text(), when);
      if (lane == kCalls) now = std::max(now, when.second);
    }
  }

  void write_slice(Timebase timebase, EventId id, Lane lane, const std::string& name,
                   Interval when) {
    const Event& what = event(id);
    std::string args;
    const auto add = [&args](const char* key, const auto& value) {
      args += fmt::format("{}\"{}\":{}", args.empty() ? "" : ",", key, value);
    };
    if (what.peer >= 0) add("peer", what.peer);
    if (what.kind != EventKind::kWait && what.kind != EventKind::kCompute) add("bytes", what.bytes);
    if (what.place.line() != 0)
      add("place", quoted(fmt::format("{}:{}", what.place.file_name(), what.place.line())));
    write(R"({{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
          quoted(name), name_of(what.kind), static_cast<int>(timebase), thread(id.rank, lane),
          when.first * kMicro, (when.second - when.first) * kMicro, args);
  }

  /// Draws arrows from inside the send's slice to inside the receive's.
  void write_arrows(Timebase timebase) {
    std::int64_t number = 0;
    for (const Message& message : match_messages(trace_)) {
      Interval sent;
      Interval received;
      const EventId taken = taken_at(timebase, message.recv);
      if (!interval(timebase, message.send, sent) || !interval(timebase, taken, received)) continue;
      const double begin = sent.first;
      const double end = std::max(begin, (received.first + received.second) / 2);
      ++number;
      write_end(timebase, message.send, R"("s")", begin, number);
      write_end(timebase, taken, R"("f","bp":"e")", end, number);
    }
  }

  /// By the wall clock an irecv may return before its message is sent. The message then arrives in
  /// its wait.
  EventId taken_at(Timebase timebase, EventId recv) const {
    if (timebase == kVirtual || !event(recv).async) return recv;
    const EventId wait = waits_[static_cast<std::size_t>(recv.rank)][recv.event];
    return wait.rank < 0 ? recv : wait;
  }

  /// @param phase as JSON; of the arrow's head, with the binding that follows it
  void write_end(Timebase timebase, EventId id, const char* phase, double seconds,
                 std::int64_t number) {
    write(R"({{"name":"message","cat":"message","id":{},"ph":{},"pid":{},"tid":{},"ts":{}}})",
          number, phase, static_cast<int>(timebase), thread(id.rank, lane_of(timebase, event(id))),
          seconds * kMicro);
  }

  static constexpr std::size_t kPiece = 1 << 16;  // bytes written at once

  std::ostream& out_;
  std::string text_;  // not written yet
  const Trace& trace_;
  const Replay& replay_;
  const std::vector<std::vector<EventId>> waits_;
  bool first_ = true;
};

}  // namespace

void write_trace_events(std::ostream& out, const Trace& trace, const Replay& replay) {
  Writer(out, trace, replay).write();
}

}  // namespace rankbox
