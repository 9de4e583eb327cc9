// The machines whose virtual time can be asked for, as a table.
#pragma once

#include <string>

namespace rankbox::cli {

/// A line per preset: latency and bandwidth within a node and between nodes, additions, ranks per
/// node.
std::string format_clusters();

}  // namespace rankbox::cli
