#include "parallel/checkpoint_rank0.h"

namespace rankbox {

void checkpoint_rank0(Comm& dist, CheckpointAction action, const std::string& path,
                      const TrainingState& state) {
  // TODO: 1. saving: which rank writes, and what must the others wait for? 2. loading: rank 0
  // reads; how do the others get numbers and tensors? state.numbers are pairs of a name and a
  // pointer, state.tensors of a name and a Slice.
  throw NotImplemented("checkpoint_rank0");
}

}  // namespace rankbox
