#include "viewer/trace_events.h"

#include <algorithm>
#include <cstdint>
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

using Json = nlohmann::ordered_json;  // members in the order of insertion

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

class Writer {
 public:
  Writer(std::ostream& out, const Trace& trace, const Replay& replay)
      : out_(out), trace_(trace), replay_(replay), waits_(find_waits(trace)) {}

  void write() {
    out_ << R"({"displayTimeUnit":"ns","traceEvents":[)";
    for (const Timebase timebase : {kVirtual, kWall}) {
      write_names(timebase);
      for (int rank = 0; rank < world_size(); ++rank) write_rank(timebase, rank);
      write_arrows(timebase);
    }
    out_ << "\n]}\n";
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
    if (timebase == kWall || !(event.async || event.paired)) return kCalls;
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

  void write(const Json& json) {
    out_ << (first_ ? "\n" : ",\n") << json.dump();
    first_ = false;
  }

  void write_names(Timebase timebase) {
    write({{"ph", "M"},
           {"name", "process_name"},
           {"pid", timebase},
           {"args", {{"name", timebase == kVirtual ? "virtual time" : "wall clock"}}}});
    for (int rank = 0; rank < world_size(); ++rank) {
      for (const Lane lane : {kCalls, kSendPort, kRecvPort}) {
        if (!is_used(timebase, rank, lane)) continue;
        write({{"ph", "M"},
               {"name", "thread_name"},
               {"pid", timebase},
               {"tid", thread(rank, lane)},
               {"args", {{"name", fmt::format("rank {}{}", rank, kLaneNames[lane])}}}});
        write({{"ph", "M"},
               {"name", "thread_sort_index"},
               {"pid", timebase},
               {"tid", thread(rank, lane)},
               {"args", {{"sort_index", rank * kLanes + lane}}}});
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
    write({{"ph", "C"},
           {"name", fmt::format("memory of rank {}", rank)},
           {"pid", timebase},
           {"ts", seconds * kMicro},
           {"args", {{"bytes", bytes}}}});
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
    Json args = Json::object();
    if (what.peer >= 0) args["peer"] = what.peer;
    if (what.kind != EventKind::kWait && what.kind != EventKind::kCompute)
      args["bytes"] = what.bytes;
    if (what.place.line() != 0)
      args["place"] = fmt::format("{}:{}", what.place.file_name(), what.place.line());
    write({{"ph", "X"},
           {"name", name},
           {"cat", name_of(what.kind)},
           {"pid", timebase},
           {"tid", thread(id.rank, lane)},
           {"ts", when.first * kMicro},
           {"dur", (when.second - when.first) * kMicro},
           {"args", std::move(args)}});
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
      const Json common = {{"name", "message"}, {"cat", "message"}, {"id", ++number}};
      write_end(timebase, message.send, "s", begin, common);
      write_end(timebase, taken, "f", end, common);
    }
  }

  /// By the wall clock an irecv may return before its message is sent. The message then arrives in
  /// its wait.
  EventId taken_at(Timebase timebase, EventId recv) const {
    if (timebase == kVirtual || !event(recv).async) return recv;
    const EventId wait = waits_[static_cast<std::size_t>(recv.rank)][recv.event];
    return wait.rank < 0 ? recv : wait;
  }

  void write_end(Timebase timebase, EventId id, const char* phase, double seconds, Json json) {
    json["ph"] = phase;
    if (*phase == 'f') json["bp"] = "e";
    json["pid"] = timebase;
    json["tid"] = thread(id.rank, lane_of(timebase, event(id)));
    json["ts"] = seconds * kMicro;
    write(json);
  }

  std::ostream& out_;
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
