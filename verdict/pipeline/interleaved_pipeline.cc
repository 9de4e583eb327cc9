#include "verdict/pipeline/interleaved_pipeline.h"

namespace rankbox {

std::vector<Case> InterleavedPipeline::cases_of(int world_size) const {
  std::vector<Case> some;
  for (const auto& [chunks, rounds] : {std::pair(1, 1), std::pair(2, 1), std::pair(2, 3)}) {
    Case example;
    example.world_size = world_size;
    example.chunks = chunks;
    example.segments = rounds * world_size;
    example.count = 2 * *example.segments + 1;  // no multiple: one is larger
    some.push_back(example);
  }
  return some;
}

}  // namespace rankbox
