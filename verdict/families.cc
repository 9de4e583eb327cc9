#include "verdict/families.h"

#include <algorithm>

#include "verdict/allgather.h"
#include "verdict/allreduce.h"
#include "verdict/alltoall.h"
#include "verdict/barrier.h"
#include "verdict/broadcast.h"
#include "verdict/exchange.h"
#include "verdict/gather.h"
#include "verdict/ping_pong.h"
#include "verdict/race.h"
#include "verdict/reduce.h"
#include "verdict/reduce_scatter.h"
#include "verdict/scatter.h"

namespace rankbox {

namespace {

std::vector<Family>& all() {
  static std::vector<Family> rows = {
      family<Race>("race"),
      family_with_form<PingPong>("ping_pong"),
      family_with_form<Exchange>("exchange"),
      family_with_form<Barrier>("barrier"),
      family_with_form<Broadcast>("broadcast"),
      family_with_form<SegmentedBroadcast>("segmented_broadcast"),
      family_with_form<Reduce>("reduce"),
      family_with_form<AllReduce>("allreduce"),
      family_with_form<HierarchicalAllReduce>("hierarchical_allreduce"),
      family_with_form<Gather>("gather"),
      family_with_form<Scatter>("scatter"),
      family_with_form<AllGather>("allgather"),
      family_with_form<ReduceScatter>("reduce_scatter"),
      family_with_form<AllToAll>("alltoall"),
  };
  return rows;
}

}  // namespace

const std::vector<Family>& families() { return all(); }

const Family* find_family(std::string_view name) {
  const auto found = std::find_if(all().begin(), all().end(),
                                  [&](const Family& each) { return each.name == name; });
  return found == all().end() ? nullptr : &*found;
}

bool add_families(const std::vector<Family>& rows) {
  all().insert(all().end(), rows.begin(), rows.end());
  return true;
}

}  // namespace rankbox
