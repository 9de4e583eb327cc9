// Checkpoints: everything that training resumes from, in one file.
//
//   TrainingState state;                       // refers to everything that changes in training
//   state.model = "mlp 784-512-256-10";
//   state.numbers = {{"epoch", &epoch}, {"step", &step}};
//   add_parameters(state, model.parameters());
//   add_tensors(state, optimizer.state());
//   save_checkpoint("run.ckpt", state);        // by one rank: see below
//   load_checkpoint("run.ckpt", state);        // into the same places, later
//
// Saving is atomic: the file is written under a temporary name, flushed to disk, and renamed. A
// process that is killed at any moment leaves the old file or the new one, complete. Loading checks
// everything, down to a checksum over the file, before it changes anything.
//
// The file: 16 bytes "rankbox-ckpt-v1\n"; the length of what follows, 8 bytes, little-endian as all
// numbers; that many bytes of JSON, the description; the tensors' elements; 8 bytes of FNV-1a over
// everything before.
//
// Ranks: ranks that train together hold the same state, so one of them saves (rank 0) and all load.
// Two that save to the same path at once may both fail.
// Cost: one copy of the state in memory. Thread safety: any thread, each on its own path.
// Errors: InvalidArgument, one line with path, what was expected and what is there, for a file that
// cannot be read, is truncated or damaged, or holds something else. Error if it cannot be written.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "comm/slice.h"
#include "training/parameter.h"

namespace rankbox {

/// References to what is saved; owns nothing. Names must differ.
struct TrainingState {
  std::string model;  // its name and sizes: a checkpoint of another one is refused
  std::vector<std::pair<std::string, std::int64_t*>> numbers = {};
  std::vector<std::pair<std::string, Slice>> tensors = {};
};

/// Adds values, not gradients.
void add_parameters(TrainingState& state, const std::vector<Parameter*>& parameters);
/// Adds running statistics, or an optimizer's state.
void add_tensors(TrainingState& state, const std::vector<NamedTensor*>& tensors);

void save_checkpoint(const std::string& path, const TrainingState& state);
void load_checkpoint(const std::string& path, const TrainingState& state);

}  // namespace rankbox
