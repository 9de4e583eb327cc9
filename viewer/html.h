// A run as one HTML file, which opens in any browser and asks nobody for anything: no server, no
// network. Lanes of every rank over virtual time or by the wall clock, arrows, the critical path,
// memory, the contents of buffers step by step, and all of it as text for those who do not see.
//
// The page's own sources are in viewer/page/; html_data.h says what they are given.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "comm/errors.h"
#include "comm/trace.h"
#include "replay/clock.h"

namespace rankbox {

struct HtmlOptions {
  std::string title = "A run";
  std::string summary;                   // lines below it; plain text, as the title is
  std::vector<std::int64_t> peak_bytes;  // [rank] RunReport's; empty: unknown
  std::function<std::string(const std::string& file)> display_name;  // of a source; empty: as it is
  std::optional<DeadlockError> deadlock;  // who waits for whom, if that is how the run ended
  // That line of a source, empty if unknown. Without it the page names lines and shows none.
  std::function<std::string(const std::string& file, std::int64_t line)> source_line;
};

/// Writes the page. What never ended is drawn up to where the run stopped, open, with what it waits
/// for. Cost: O(E log E) for E events, some 60 bytes each in the file; a million open in 3 s.
///
/// REQUIRES: `replay` is a replay of `trace`.
void write_html(std::ostream& out, const Trace& trace, const Replay& replay,
                const HtmlOptions& options = {});

}  // namespace rankbox
