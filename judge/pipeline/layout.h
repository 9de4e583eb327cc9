// The mapping of ranks to stages, in one case of the pipelines' exercises.
#pragma once

#include <algorithm>

#include "judge/case.h"
#include "judge/pipeline/schedule.h"

namespace rankbox {

struct Layout {
  PipelineShape shape;       // of each replica's pipeline
  int replicas = 1;          // rank = replica · shape.ranks + position
  int messages = 4;          // that a rank may hold: two received, two to send
  std::int64_t samples = 1;  // of each replica

  int stages() const { return shape.ranks * shape.chunks; }
  int position_of(int rank) const { return rank % shape.ranks; }
  int replica_of(int rank) const { return rank / shape.ranks; }
  int stage_of(int rank, int chunk) const { return chunk * shape.ranks + position_of(rank); }
  /// Returns the rank of a stage in the pipeline of `rank`.
  int rank_of(int stage, int rank) const {
    return replica_of(rank) * shape.ranks + stage % shape.ranks;
  }
};

inline Layout layout_of(const Case& example) {
  Layout layout;
  layout.replicas = example.replicas.value_or(1);
  layout.samples = std::max<std::int64_t>(1, *example.count);
  layout.shape.ranks = example.world_size / layout.replicas;
  layout.shape.chunks = example.chunks.value_or(1);
  // With chunks, a rank waits for its sends one round later.
  if (example.chunks) layout.messages += 2 * layout.shape.ranks;
  layout.shape.micro_batches =
      static_cast<int>(std::min<std::int64_t>(*example.segments, layout.samples));
  return layout;
}

}  // namespace rankbox
