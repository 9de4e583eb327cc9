#include "parallel/clip_global_norm.h"

namespace rankbox {

void clip_global_norm(Comm& dist, const std::vector<Parameter*>& sharded,
                      const std::vector<Parameter*>& replicated, float max_norm, double& norm) {
  // TODO: the norm is the root of a sum of squares. Which part of that sum does this rank know
  // already, and which part do all ranks know?
  throw NotImplemented("clip_global_norm");
}

}  // namespace rankbox
