// Table of the clusters whose virtual time can be shown.
#pragma once

#include <string>

namespace rankbox::cli {

/// One line per preset: latency and bandwidth within a node and between nodes, additions, ranks per
/// node.
std::string format_clusters();

}  // namespace rankbox::cli
