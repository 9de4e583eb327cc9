// A table of the clusters with virtual time.
#pragma once

#include <string>

namespace rankbox::cli {

/// Returns one line per preset: latency and bandwidth within a node and between nodes, additions,
/// ranks per node.
std::string format_clusters();

}  // namespace rankbox::cli
