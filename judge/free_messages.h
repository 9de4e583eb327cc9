// A cluster with free messages and reductions: only computing and waiting take time.
#pragma once

#include "comm/cluster.h"

namespace rankbox {

inline Cluster free_messages() {
  Cluster cluster;
  cluster.name = "free messages";
  cluster.within_node = cluster.between_nodes = {0, 0};
  cluster.gamma = 0;
  return cluster;
}

}  // namespace rankbox
