// Which ranks share a machine, found out by asking them: right for every launcher, also for those
// that tell it in part or not at all.
#pragma once

#include <string>
#include <vector>

#include "launch/star.h"

namespace rankbox::launcher {

struct Placement {
  int node = 0;  // nodes are numbered by their first ranks
  int nodes = 1;
  int local_rank = 0;  // counts the ranks of one node, in their order
  int local_size = 1;
};

/// What tells machines apart: the name of the host, and of its current boot. Containers with names
/// of their own count as machines of their own, as for NCCL.
std::string this_host();

/// [rank], from each rank's host.
std::vector<Placement> placements(const std::vector<std::string>& hosts);

/// This rank's. A collective.
Placement find_placement(Star& star);

}  // namespace rankbox::launcher
