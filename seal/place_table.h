// Places of calls that come from another process.
//
// A Place points to data that the compiler made; the referee makes such data for the places that a
// rank process names, and keeps it: traces refer to it.
#pragma once

#include <string>

#include "comm/place.h"

namespace rankbox::seal {

/// Returns a place with this file and line; always the same for the same two. Characters that are
/// not printable are replaced, long names are cut. Beyond 10,000 places, all are one.
/// Thread safety: any thread may call it.
Place place_of(std::string file, unsigned line);

}  // namespace rankbox::seal
