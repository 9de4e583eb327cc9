// Places of calls that come from another process.
//
// A Place points to data that the compiler made; the referee makes such data for the places that a
// rank process names, and keeps it: traces refer to it.
#pragma once

#include <string>
#include <vector>

#include "comm/place.h"

namespace rankbox::seal {

/// Sets the files that places can lie in: the first is the learner's own. REQUIRES: no rank runs.
void set_files(std::vector<std::string> names);

/// Returns the name with characters that are not printable replaced, cut where it is long; where
/// files are set, the first one's unless it is one of them: a program may claim any, by #line.
std::string known_file(std::string file);

/// Returns a place with this known_file and line; always the same for the same two. Beyond 10,000
/// places, all are one.
/// Thread safety: any thread may call it.
Place place_of(std::string file, unsigned line);

}  // namespace rankbox::seal
