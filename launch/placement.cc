#include "launch/placement.h"

#include <array>
#include <fstream>
#include <map>

#include <unistd.h>

namespace rankbox::launcher {

std::string this_host() {
  std::array<char, 256> name = {};
  if (gethostname(name.data(), name.size() - 1) != 0) name = {'?'};
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return name.data() + (" " + boot);
}

std::vector<Placement> placements(const std::vector<std::string>& hosts) {
  std::map<std::string, int> nodes;
  std::vector<int> sizes;  // [node]
  std::vector<Placement> all;
  for (const std::string& host : hosts) {
    const int node = nodes.emplace(host, static_cast<int>(nodes.size())).first->second;
    if (node == static_cast<int>(sizes.size())) sizes.push_back(0);
    Placement placement;
    placement.node = node;
    placement.local_rank = sizes[static_cast<std::size_t>(node)]++;
    all.push_back(placement);
  }
  for (Placement& placement : all) {
    placement.nodes = static_cast<int>(sizes.size());
    placement.local_size = sizes[static_cast<std::size_t>(placement.node)];
  }
  return all;
}

Placement find_placement(Star& star) {
  return placements(star.all_gather_bytes(this_host()))[static_cast<std::size_t>(star.rank())];
}

}  // namespace rankbox::launcher
