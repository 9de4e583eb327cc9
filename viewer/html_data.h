// The input of the page of html.h: a head in JSON, and one entry per event in columns.
//
// Events are numbered rank by rank; `starts` holds the first number of each rank. Columns:
//
//   what              index into head.names
//   flags             EventFlags, added up
//   op, dtype         index into head.ops, head.dtypes
//   peer              world rank + 1; 0: none
//   bytes, memory     of the message or reduction; that the rank held before the event
//   place             index into head.places
//   link              event + 1 of the message's other side, or of a wait's operation; 0: none
//   group             index into head.groups; absent if there is only the world
//   virtualBegin/End  seconds; an end of -1: never. Begin is then when the rank arrived
//   waited            seconds from the rank's arrival until virtualBegin; of a wait, its length
//   wallBegin/End     nanoseconds; kDone says whether the event ended
//
// head.sources: [{file, lines}] of the files that most events name.
// head.schedule: HtmlOptions::schedule.
// head.deadlock, if the run ended in one: {cycle: ranks,
// waits: [{rank, op, peers, bytes, file, line}]}
//
// head.held, if the trace has memory notes: {buffers: [{rank, begins, bytes, column}],
// contents: [{label, from: [[rank, times]]}], labels: what calls move}; cells are numbered over all
// buffers.
//
//   label             index into head.held.labels; absent without
//   heldEvent         event + 1 at whose end a cell changes; 0: before the first event
//   heldCell          the cell, and
//   heldContents      index into head.held.contents
//   path              the critical path, as events
//   snapshotEvent     the events that have one, rank by rank
//   snapshotStart     where its values begin in snapshotValues; one more at the end
#pragma once

#include <cstdint>

#include <nlohmann/json.hpp>

#include "viewer/columns.h"
#include "viewer/html.h"

namespace rankbox {

/// For the column `flags` and its reader, viewer/page/data.js.
enum EventFlags : std::uint8_t {
  kDone = 1,
  kAsync = 2,
  kPaired = 4,
  kBuffered = 8,
  kCritical = 16,
};

struct HtmlData {
  nlohmann::ordered_json head;
  Columns columns;
};

HtmlData html_data(const Trace& trace, const Replay& replay, const HtmlOptions& options);

}  // namespace rankbox
