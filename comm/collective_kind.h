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
  kGatherV,  // of pieces whose sizes the caller names
  kAllGatherV,
  kScatterV,
  kAllToAllV,
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
    case CollectiveKind::kGatherV:
      return "gather_v";
    case CollectiveKind::kAllGatherV:
      return "all_gather_v";
    case CollectiveKind::kScatterV:
      return "scatter_v";
    case CollectiveKind::kAllToAllV:
      return "all_to_all_v";
    case CollectiveKind::kSplit:
      return "split";
  }
  return "unknown";
}

/// Returns the collective that does the same with equal pieces: kGather for kGatherV.
constexpr CollectiveKind with_equal_pieces(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kGatherV:
      return CollectiveKind::kGather;
    case CollectiveKind::kAllGatherV:
      return CollectiveKind::kAllGather;
    case CollectiveKind::kScatterV:
      return CollectiveKind::kScatter;
    case CollectiveKind::kAllToAllV:
      return CollectiveKind::kAllToAll;
    default:
      return kind;
  }
}

/// Returns whether the collective moves tensors.
constexpr bool moves_data(CollectiveKind kind) {
  return kind != CollectiveKind::kBarrier && kind != CollectiveKind::kSplit;
}

}  // namespace rankbox
