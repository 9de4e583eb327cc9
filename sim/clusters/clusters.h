// Clusters: presets by name, and your own in TOML files.
//
// A cluster is a TOML file like those in sim/clusters/presets:
//
//   name = "mine"
//   ranks_per_node = 8           # 0 or left out: all ranks on one node
//   max_nodes = 4                # 0 or left out: any number
//   reduction_GB_s = 100         # γ = 1 / this
//   call_us = 6.6                # what starting a message or a collective takes; left out: 0
//   [within_node]
//   alpha_us = 2.5               # α = call_us + this
//   bandwidth_GB_s = 300         # β = 1 / this
//   ports = 12                   # the physical links of a rank, and what one of them carries each
//   port_GB_s = 30               # way; optional: a bandwidth above their product is refused
//   [between_nodes]              # left out: as within_node
//   alpha_us = 10
//   bandwidth_GB_s = 25
//   [[native]]                   # any number: see NativeMode in comm/cluster.h
//   collectives = ["broadcast", "reduce"]
//   nodes = 1                    # left out: 1
//   call_us = 14                 # left out: as above
//   alpha_us = 4
//   bandwidth_GB_s = 250
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "comm/cluster.h"

namespace rankbox {

/// The names of sim/clusters/presets; the first is the default.
const std::vector<Cluster>& cluster_presets();

/// Returns the preset with that name, or reads the file if it is a path (it ends in .toml or has a
/// slash).
/// Throws InvalidArgument that lists the names, or says what is wrong with the file.
Cluster cluster_named(std::string_view name);

/// Throws InvalidArgument that names `source`, the field and the fix.
Cluster parse_cluster(std::string_view text, const std::string& source);

}  // namespace rankbox
