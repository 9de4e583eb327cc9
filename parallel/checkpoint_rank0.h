// checkpoint_rank0: one rank writes the checkpoint, and all ranks resume from it.
//
// Ranks that train together hold the same state, so one file is enough. If every rank writes it,
// they all write to the same place at the same moment (or p times as much). If other ranks continue
// before the file is complete, they may read an old one, or none. When training resumes, the file
// is on rank 0's machine: the same path may be another folder on another rank's disk. So rank 0
// reads, and broadcasts.
//
//   save    rank 0: save_checkpoint(path, state)          the others wait until it is written
//   load    rank 0: load_checkpoint(path, state)          then numbers and tensors are broadcast
//
// A state must hold all that the resumed run needs to equal an uninterrupted one: parameters,
// running statistics, the optimizer's state, epoch and step. Saving is atomic
// (training/checkpoint.h): a process that dies meanwhile leaves the old file or the new one.
//
// Build on save_checkpoint and load_checkpoint. Wait with dist.barrier, which is no crutch here: a
// file is not a message. Use dist.broadcast to send all numbers in one TensorOf<std::int64_t>, then
// each tensor, in their order.
//
// Cost: save: a native barrier. load: a native broadcast of 8 bytes per number, and of each tensor.
// Blocks: until all ranks have called it.
// Difficulty 2/5. Importance 4/5.
#pragma once

#include <string>

#include "comm/comm.h"
#include "training/checkpoint.h"

namespace rankbox {

enum class CheckpointAction { kSave, kLoad };

/// kSave: rank 0's state is in the file when it returns, on every rank. kLoad: every rank's numbers
/// and tensors are what rank 0 found in the file.
///
/// @param path is used only on rank 0
/// REQUIRES: every rank calls it with the same action, and a state of the same numbers and tensors.
/// Errors: what save_checkpoint and load_checkpoint throw on rank 0, which ends the run.
void checkpoint_rank0(Comm& dist, CheckpointAction action, const std::string& path,
                      const TrainingState& state);

}  // namespace rankbox
