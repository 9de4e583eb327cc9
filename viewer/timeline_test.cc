#include "viewer/timeline.h"

#include <sstream>

#include <doctest/doctest.h>

namespace rankbox {
namespace {

Event event_of(EventKind kind, int peer) {
  Event event;
  event.kind = kind;
  event.peer = peer;
  event.done = true;
  return event;
}

struct Run {
  Trace trace;
  Replay replay;
};

/// Rank 0 sends to rank 1 for 10 µs; rank 1 then adds for 10 µs.
Run send_and_add() {
  Run run;
  run.trace.ranks = {{event_of(EventKind::kSend, 1)},
                     {event_of(EventKind::kRecv, 0), event_of(EventKind::kReduce, -1)}};
  run.replay.spans = {{{0, 10e-6}}, {{0, 10e-6}, {10e-6, 20e-6}}};
  return run;
}

TEST_CASE("sends are above, receives and additions below, to scale") {
  const Run run = send_and_add();
  CHECK(draw_timeline(run.trace, run.replay, {.columns = 53, .ascii = true}) ==
        "rank 0  out  [>1================]\n"
        "        in\n"
        "rank 1  out\n"
        "        in   [<0================][+#################]\n"
        "             0                   10 us\n");
}

TEST_CASE("an asynchronous collective is above its rank's computation") {
  Run run;
  Event started = event_of(EventKind::kCollective, -1);
  started.collective = CollectiveKind::kAllReduce;
  Event blocking = started;
  started.async = true;
  run.trace.ranks = {{started, event_of(EventKind::kCompute, -1), blocking}};
  run.replay.spans = {{{0, 8e-6}, {0, 10e-6}, {10e-6, 20e-6}}};
  CHECK(draw_timeline(run.trace, run.replay, {.columns = 53, .ascii = true}) ==
        "rank 0  out  [all_reduce====]\n"
        "        in   [compute###########][all_reduce========]\n"
        "             0                   10 us\n");
}

TEST_CASE("a computation is drawn with its label") {
  Run run;
  Event labelled = event_of(EventKind::kCompute, -1);
  labelled.bytes = Label("F3").bits();
  run.trace.ranks = {{labelled, event_of(EventKind::kCompute, -1)}};
  run.replay.spans = {{{0, 10e-6}, {10e-6, 20e-6}}};
  CHECK(draw_timeline(run.trace, run.replay, {.columns = 53, .ascii = true}) ==
        "rank 0  out\n"
        "        in   [F3################][compute###########]\n"
        "             0                   10 us\n");
}

TEST_CASE("UTF-8 draws the same picture with other characters") {
  const Run run = send_and_add();
  const std::string picture = draw_timeline(run.trace, run.replay, {.columns = 53});
  CHECK(picture.find("[→1━━") != std::string::npos);
  CHECK(picture.find("[+▒▒") != std::string::npos);
}

TEST_CASE("colours change nothing else, and end with their span") {
  const Run run = send_and_add();
  const TimelineOptions plain{.columns = 53, .ascii = true};
  TimelineOptions painted = plain;
  painted.colour = true;
  std::string picture = draw_timeline(run.trace, run.replay, painted);
  CHECK(picture.find("\033[34m[>1================]\033[0m\n") != std::string::npos);
  for (std::size_t at = 0; (at = picture.find('\033')) != std::string::npos;)
    picture.erase(at, picture.find('m', at) - at + 1);
  CHECK(picture == draw_timeline(run.trace, run.replay, plain));
}

TEST_CASE("an event that never began is drawn from its rank's arrival") {
  Run run = send_and_add();
  run.trace.ranks[0].push_back(event_of(EventKind::kRecv, 1));
  run.trace.ranks[1].push_back(event_of(EventKind::kRecv, 0));
  run.replay.spans[0].push_back({0, -1});
  run.replay.spans[1].push_back({0, -1});
  CHECK(draw_timeline(run.trace, run.replay, {.columns = 53, .ascii = true}) ==
        "rank 0  out  [>1============]\n"
        "        in                   [<1====================?\n"
        "rank 1  out\n"
        "        in   [<0============][+#############][<0====?\n"
        "             0               10 us           20 us\n");
}

TEST_CASE("a span that never ended is open to the right") {
  Run run = send_and_add();
  run.replay.spans[1][1] = {10e-6, -1};
  const std::string picture = draw_timeline(run.trace, run.replay, {.columns = 53, .ascii = true});
  CHECK(picture.find("#?") != std::string::npos);
}

TEST_CASE("no line is longer than the terminal, at any width and for any number of ranks") {
  for (const int columns : {40, 53, 80, 200}) {
    for (const int ranks : {1, 2, 16, 17, 101}) {
      Run run;
      for (int rank = 0; rank < ranks; ++rank) {
        run.trace.ranks.push_back(
            {event_of(EventKind::kSend, 1000), event_of(EventKind::kCollective, -1)});
        run.replay.spans.push_back({{0, 1e-3}, {1e-3, 1.0 + 1e-3}});
      }
      std::istringstream lines(
          draw_timeline(run.trace, run.replay, {.columns = columns, .ascii = true}));
      for (std::string line; std::getline(lines, line);) {
        CAPTURE(line);
        CHECK(line.size() <= static_cast<std::size_t>(columns));
      }
    }
  }
}

TEST_CASE("an empty run has lanes and no spans") {
  Run run;
  run.trace.ranks = {{}, {}};
  run.replay.spans = {{}, {}};
  CHECK(draw_timeline(run.trace, run.replay, {.ascii = true}).find('[') == std::string::npos);
}

TEST_CASE("ranks that are not drawn are counted") {
  Run run;
  run.trace.ranks.resize(20);
  run.replay.spans.resize(20);
  CHECK(draw_timeline(run.trace, run.replay, {.ascii = true}).find("4 more") != std::string::npos);
}

}  // namespace
}  // namespace rankbox
