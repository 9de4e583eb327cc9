// checkpoint_rank0: one rank writes down what all have, and all go on from it.
//
// Ranks that train together hold the same, so one file is enough. If every rank writes it, they write
// to the same place at the same moment (or p times as much); if other ranks go on before it is
// there, they may read an old one, or none. And when training resumes, the file lies on rank 0's
// machine: the others may have another disk, and another folder behind the same path. So rank 0
// reads, and tells.
//
//   save    rank 0: save_checkpoint(path, state)          the others wait until it is there
//   load    rank 0: load_checkpoint(path, state)          then numbers and tensors are broadcast
//
// What must be in a state, so that the run that goes on is the one that was interrupted: parameters,
// running statistics, what the optimizer keeps, epoch and step (training/checkpoint.h, whose save is
// atomic: whoever dies meanwhile leaves the old file or the new one).
//
// Build on save_checkpoint and load_checkpoint; on dist.barrier for waiting, which is no crutch here:
// a file is no message. On dist.broadcast for telling: all numbers in one TensorOf<std::int64_t>, then
// each tensor, in their order.
//
// Cost: save: a native barrier. load: a native broadcast of 8 bytes a number, and of each tensor.
// Blocks: until all ranks have called it.
// Difficulty 2/5. Importance 4/5.
#pragma once

#include <string>

#include "comm/comm.h"
#include "training/checkpoint.h"

namespace rankbox {

enum class CheckpointAction { kSave, kLoad };

/// kSave: rank 0's state is in the file when it returns, on every rank. kLoad: every rank's numbers and
/// tensors are what rank 0 found in the file.
///
/// @param path means something on rank 0 alone
/// REQUIRES: every rank calls it with the same action, and a state of the same numbers and tensors.
/// Errors: what save_checkpoint and load_checkpoint throw on rank 0, which ends the run.
void checkpoint_rank0(Comm& dist, CheckpointAction action, const std::string& path,
                      const TrainingState& state);

}  // namespace rankbox
