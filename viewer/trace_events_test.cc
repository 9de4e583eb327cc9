// Trace-event JSON of real runs, read back.
#include "viewer/trace_events.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "comm/run_ranks.h"
#include "viewer/messages.h"

namespace rankbox {
namespace {

using Json = nlohmann::json;

/// Contains every kind of span: blocking, paired, asynchronous, native, local.
RunReport run_everything() {
  return run_ranks({.world_size = 4},
                   [](Comm& dist) {
                     Tensor tensor = full(64, 1.0f);
                     Tensor other = zeros(64);
                     const int next = (dist.rank() + 1) % 4;
                     const int prev = (dist.rank() + 3) % 4;
                     dist.compute(1e-6 * dist.rank());
                     dist.sendrecv(tensor, next, other, prev);
                     tensor += other;
                     const Comm::Request sent = dist.isend(tensor, next);
                     const Comm::Request received = dist.irecv(other, prev);
                     dist.compute(2e-6);
                     dist.wait_all({sent, received});
                     if (dist.rank() == 0) dist.send(tensor, 3);
                     if (dist.rank() == 3) dist.recv(tensor, 0);
                     dist.all_reduce(tensor);
                     dist.barrier();
                   })
      .report;
}

Json exported(const Trace& trace) {
  std::ostringstream out;
  write_trace_events(out, trace, replay_trace(trace, Cluster{}));
  return Json::parse(out.str());
}

struct Interval {
  double begin;
  double end;
};

/// Returns the slices of every lane, in order.
std::map<std::pair<int, int>, std::vector<Interval>> lanes_of(const Json& json) {
  std::map<std::pair<int, int>, std::vector<Interval>> lanes;
  for (const Json& event : json["traceEvents"]) {
    if (event["ph"] != "X") continue;
    const double begin = event["ts"];
    lanes[{event["pid"], event["tid"]}].push_back({begin, begin + event["dur"].get<double>()});
  }
  for (auto& [lane, slices] : lanes) {
    std::stable_sort(slices.begin(), slices.end(), [](const Interval& a, const Interval& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
  }
  return lanes;
}

TEST_CASE("the slices of a lane nest, in virtual time and by the wall clock") {
  const Json json = exported(run_everything().trace);
  constexpr double kRounding = 1e-6;  // µs
  for (const auto& [lane, slices] : lanes_of(json)) {
    CAPTURE(lane.first);
    CAPTURE(lane.second);
    std::vector<Interval> around;
    for (const Interval& slice : slices) {
      while (!around.empty() && around.back().end <= slice.begin + kRounding) around.pop_back();
      if (!around.empty()) CHECK(slice.end <= around.back().end + kRounding);
      around.push_back(slice);
    }
  }
}

/// Sends a message long after its irecv returned.
RunReport run_irecv_first() {
  return run_ranks({.world_size = 2},
                   [](Comm& dist) {
                     Tensor early = zeros(4);
                     Tensor go = zeros(1);
                     if (dist.rank() == 0) {
                       const Comm::Request received = dist.irecv(early, 1);
                       dist.send(go, 1);
                       dist.wait(received);
                     } else {
                       dist.recv(go, 0);
                       dist.send(early, 0);
                     }
                   })
      .report;
}

/// Checks that every message has an arrow on either clock, whose ends lie in slices.
void check_arrows(const Trace& trace, std::size_t messages) {
  const Json json = exported(trace);
  CHECK(match_messages(trace).size() == messages);
  const auto lanes = lanes_of(json);
  std::map<std::pair<int, int>, std::map<std::string, Json>> arrows;  // [pid, id][ph]
  for (const Json& event : json["traceEvents"]) {
    if (event["ph"] == "s" || event["ph"] == "f")
      arrows[{event["pid"], event["id"]}][event["ph"]] = event;
  }
  CHECK(arrows.size() == 2 * messages);
  for (const auto& [id, ends] : arrows) {
    REQUIRE(ends.size() == 2);
    CHECK(ends.at("f")["bp"] == "e");
    CHECK(ends.at("s")["ts"] <= ends.at("f")["ts"]);
    for (const auto& [phase, end] : ends) {
      const double at = end["ts"];
      const auto& slices = lanes.at({end["pid"], end["tid"]});
      CHECK(std::any_of(slices.begin(), slices.end(), [at](const Interval& slice) {
        return slice.begin <= at && at <= slice.end;
      }));
    }
  }
}

TEST_CASE("every message is an arrow, from its send's slice to its receive's") {
  check_arrows(run_everything().trace, 9);
}

TEST_CASE("by the wall clock a message that was sent after its irecv arrives in the wait") {
  for (int i = 0; i < 20; ++i) check_arrows(run_irecv_first().trace, 2);
}

TEST_CASE("ranks and clocks have names, and slices have operation, peer, bytes and place") {
  const Json json = exported(run_everything().trace);
  std::vector<std::string> names;
  bool found = false;
  for (const Json& event : json["traceEvents"]) {
    if (event["ph"] == "M" && event["name"] != "thread_sort_index")
      names.push_back(event["args"]["name"]);
    if (event["ph"] != "X" || event["name"] != "recv" || event["tid"] != 3) continue;
    if (event["args"]["peer"] != 0) continue;
    found = true;
    CHECK(event["args"]["bytes"] == 256);
    CHECK(event["args"]["place"].get<std::string>().find("trace_events_test.cc:") !=
          std::string::npos);
  }
  CHECK(found);
  for (const char* name : {"virtual time", "wall clock", "rank 0", "rank 3", "rank 0 sends"})
    CHECK(std::find(names.begin(), names.end(), name) != names.end());
}

TEST_CASE("a computation is a slice with its label") {
  const Trace trace =
      run_ranks({.world_size = 1}, [](Comm& dist) { dist.compute(1e-6, "B12"); }).report.trace;
  int slices = 0;
  const Json json = exported(trace);
  for (const Json& event : json["traceEvents"]) {
    if (event["ph"] != "X") continue;
    ++slices;
    CHECK(event["name"] == "B12");
    CHECK(event["cat"] == "compute");
    CHECK_FALSE(event["args"].contains("bytes"));
  }
  CHECK(slices == 2);  // in virtual time, and by the wall clock
}

TEST_CASE("the memory of a rank is a counter, written when it changes") {
  const Trace trace = run_ranks({.world_size = 1}, [](Comm& dist) {
                        dist.compute(1e-6);
                        const Tensor tensor = full(256, 1.0F);
                        dist.compute(2e-6);
                        dist.compute(1e-6);
                        const Tensor more = full(256, 1.0F);
                        dist.compute(1e-6);
                      }).report.trace;
  std::map<int, std::vector<std::pair<double, double>>> counted;  // by clock: time, bytes
  const Json json = exported(trace);
  for (const Json& event : json["traceEvents"]) {
    if (event["ph"] != "C") continue;
    CHECK(event["name"] == "memory of rank 0");
    counted[event["pid"]].emplace_back(event["ts"], event["args"]["bytes"]);
  }
  REQUIRE(counted.size() == 2);
  for (const auto& [clock, values] : counted) {
    REQUIRE(values.size() == 2);
    CHECK(values[0].second == 1024);
    CHECK(values[1].second == 2048);
    CHECK(values[0].first < values[1].first);
  }
  CHECK(counted[1][0].first == doctest::Approx(1));
  CHECK(counted[1][1].first == doctest::Approx(4));
}

TEST_CASE("a run without events is a valid object too") {
  Trace trace;
  trace.ranks.resize(2);
  std::ostringstream out;
  write_trace_events(out, trace, Replay{.spans = {{}, {}}, .clocks = {0, 0}});
  CHECK(Json::parse(out.str())["traceEvents"].size() == 2 * (1 + 2 * 2));
}

TEST_CASE("every wait of a wait_all is in the lane of calls, not in one of a port") {
  int waits = 0;
  const Json json = exported(run_everything().trace);
  for (const Json& event : json["traceEvents"]) {
    if (event["ph"] != "X" || !event["name"].get<std::string>().starts_with("wait")) continue;
    ++waits;
    CHECK(event["tid"] < 4);
  }
  CHECK(waits > 8);
}

}  // namespace
}  // namespace rankbox
