// A run as one HTML file, for any browser, without a server or a network.
//
// It has lanes of every rank over virtual time or wall-clock time, arrows, the critical path,
// memory, the contents of buffers step by step, and all of it as text for screen readers.
//
// The page's own sources are in viewer/page/; html_data.h describes their input.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/errors.h"
#include "comm/trace.h"
#include "sim/clock/clock.h"

namespace rankbox {

struct HtmlOptions {
  std::string title = "A run";
  std::string summary;                   // lines below it; plain text, like the title
  std::vector<std::int64_t> peak_bytes;  // [rank] RunReport's; empty: unknown
  std::function<std::string(const std::string& file)> display_name;  // of a file; empty: unchanged
  std::optional<DeadlockError> deadlock;  // if the run ended in a deadlock
  // Returns the lines of a source, none if unknown. Without it the page names lines and does not
  // show them.
  std::function<std::vector<std::string>(const std::string& file)> source_lines;
  std::string schedule;  // a text picture of who computes when, for pipelines
};

/// Writes the page. Events that never ended are drawn open up to where the run stopped, with their
/// pending operation. Cost: O(E log E) for E events, about 60 bytes each in the file.
///
/// REQUIRES: `replay` is a replay of `trace`.
void write_html(std::ostream& out, const Trace& trace, const Replay& replay,
                const HtmlOptions& options = {});

/// Returns text as HTML or XML shows it.
std::string escape_html(std::string_view text);

/// Returns the page's Content-Security-Policy: its own scripts and styles, and nothing from
/// outside. For a server that cannot trust the file: a header also binds a page that lacks the
/// policy.
std::string_view html_policy();

}  // namespace rankbox
