// The native collectives by name.
#pragma once

#include <cstdint>

namespace rankbox {

enum class CollectiveKind : std::uint8_t {
  kBarrier,
  kBroadcast,
  kReduce,
  kAllReduce,
  kGather,
  kAllGather,
  kScatter,
  kReduceScatter,
  kAllToAll,
  kSplit,
};

/// Returns "all_reduce", the name of the member function of Comm.
constexpr const char* name_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kBarrier:
      return "barrier";
    case CollectiveKind::kBroadcast:
      return "broadcast";
    case CollectiveKind::kReduce:
      return "reduce";
    case CollectiveKind::kAllReduce:
      return "all_reduce";
    case CollectiveKind::kGather:
      return "gather";
    case CollectiveKind::kAllGather:
      return "all_gather";
    case CollectiveKind::kScatter:
      return "scatter";
    case CollectiveKind::kReduceScatter:
      return "reduce_scatter";
    case CollectiveKind::kAllToAll:
      return "all_to_all";
    case CollectiveKind::kSplit:
      return "split";
  }
  return "unknown";
}

/// Returns whether the collective moves tensors.
constexpr bool moves_data(CollectiveKind kind) {
  return kind != CollectiveKind::kBarrier && kind != CollectiveKind::kSplit;
}

}  // namespace rankbox
