// The calls of clip_global_norm that a case makes: their gradients, and what is right.
#pragma once

#include <cstdint>
#include <vector>

namespace rankbox {

/// What is special about a call's gradients.
enum class ClipSpecial {
  kNothing,
  kInfiniteShard,
  kNanShard,
  kInfiniteReplica,
  kNoReplicas,  // and no shard on the last rank
  kNoShards,
};

struct ClipCall {
  const char* what;
  double size;   // gradients are this many times as large as usual
  double ratio;  // max_norm / norm
  ClipSpecial special = ClipSpecial::kNothing;
};

/// A case makes the first of these calls, one after the other: Case::steps.
const std::vector<ClipCall>& clip_calls();

using Gradient = std::vector<float>;

/// Returns a rank's shards: a piece of each parameter, of equal size on all ranks, padded with 0.
std::vector<Gradient> shards_of(const ClipCall& call, std::int64_t count, int rank, int world_size);
/// Returns the gradients that all ranks have.
std::vector<Gradient> replicas_of(const ClipCall& call, std::int64_t count);

/// The right result of a call.
struct Clipped {
  Clipped(const ClipCall& call, std::int64_t count, int world_size);

  std::vector<double> sharded;  // [rank] sums of squares
  double total = 0;             // of `sharded`
  double replicated;            // sum of squares
  double norm;
  float max_norm;
  double factor;  // 1: gradients stay as they are
};

}  // namespace rankbox
