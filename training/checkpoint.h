// Checkpoints: everything that training goes on from, in one file.
//
//   TrainingState state;                       // refers to all that changes while training
//   state.model = "mlp 784-512-256-10";
//   state.numbers = {{"epoch", &epoch}, {"step", &step}};
//   add_parameters(state, model.parameters());
//   add_tensors(state, optimizer.state());
//   save_checkpoint("run.ckpt", state);        // by one rank: see below
//   load_checkpoint("run.ckpt", state);        // into the same places, later
//
// Saving is atomic: the file is written beside its place, flushed to the disk, and moved there. Whoever is
// killed at any moment leaves the old file or the new one, whole. Loading checks everything,
// down to a checksum over the file, before it changes anything.
//
// The file: 16 bytes "rankbox-ckpt-v1\n"; the length of what follows, 8 bytes, little-endian as all
// numbers; that many bytes of JSON, which say what there is; the tensors' elements; 8 bytes of
// FNV-1a over all before.
//
// Ranks: those that train together hold the same, so one of them saves (rank 0) and all load. Two that
// save to the same path at once may both fail.
// Cost: one copy of the state in memory. Thread safety: any threads, on paths of their own.
// Errors: InvalidArgument, one line with path, what was expected and what is there, for a file that
// cannot be read, is cut or damaged, or is of something else. Error if it cannot be written.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "comm/slice.h"
#include "training/parameter.h"

namespace rankbox {

/// Refers to what is saved; owns none of it. Names must differ.
struct TrainingState {
  std::string model;  // its name and sizes: a checkpoint of another one is refused
  std::vector<std::pair<std::string, std::int64_t*>> numbers = {};
  std::vector<std::pair<std::string, Slice>> tensors = {};  // in host memory
};

/// Values, not gradients.
void add_parameters(TrainingState& state, const std::vector<Parameter*>& parameters);
/// Running statistics, or what an optimizer keeps.
void add_tensors(TrainingState& state, const std::vector<NamedTensor*>& tensors);

void save_checkpoint(const std::string& path, const TrainingState& state);
void load_checkpoint(const std::string& path, const TrainingState& state);

}  // namespace rankbox
