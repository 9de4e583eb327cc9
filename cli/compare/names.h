// Names of collectives and algorithms on the command line.
#pragma once

#include <string>
#include <vector>

#include "comm/collective_kind.h"

namespace rankbox::cli {

/// Returns the collectives of "all_reduce", "broadcast,reduce" or "all", in the order given. Throws
/// InvalidArgument that lists the names.
std::vector<CollectiveKind> parse_collectives(const std::string& text);

/// Returns the pieces of "ring,tree", each the name of an algorithm of one of the collectives.
/// Throws InvalidArgument that lists the names.
std::vector<std::string> parse_algorithms(const std::string& text,
                                          const std::vector<CollectiveKind>& collectives);

}  // namespace rankbox::cli
