// Who waits for whom in a deadlock, as the process of a submitted program reports it.
#pragma once

#include <string>

namespace rankbox::cli {

/// Returns the same as waits_json() (viewer/waits_json.h), with visible texts of bounded length and
/// numbers in range. Returns "" for any other text, since the program may have written it, and for
/// more than 64 ranks, of which no circle would be readable.
std::string checked_waits(const std::string& text);

}  // namespace rankbox::cli
