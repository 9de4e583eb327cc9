// The plan of a training run: the command line as values.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "comm/cluster.h"

namespace rankbox::train {

enum class OptimizerKind { kSgd, kAdam };

constexpr const char* name_of(OptimizerKind kind) {
  return kind == OptimizerKind::kSgd ? "sgd" : "adam";
}

/// Of the learning rate after warm-up, see learning_rate.h.
enum class Decay { kConstant, kLinear, kCosine };

inline constexpr std::array kDecays = {Decay::kConstant, Decay::kLinear, Decay::kCosine};

constexpr const char* name_of(Decay decay) {
  switch (decay) {
    case Decay::kConstant:
      return "constant";
    case Decay::kLinear:
      return "linear";
    case Decay::kCosine:
      return "cosine";
  }
  return "unknown";
}

/// The score by which --keep-best compares models.
enum class BestBy { kNothing, kAccuracy, kF1 };

constexpr const char* name_of(BestBy by) {
  return by == BestBy::kAccuracy ? "accuracy" : by == BestBy::kF1 ? "f1" : "nothing";
}

/// See mixed_precision.h.
enum class Precision { kFp32, kMixed, kBf16 };

inline constexpr std::array kPrecisions = {Precision::kFp32, Precision::kMixed, Precision::kBf16};

constexpr const char* name_of(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return "fp32";
    case Precision::kMixed:
      return "mixed";
    case Precision::kBf16:
      return "bf16";
  }
  return "unknown";
}

/// Returns ", mixed precision", to end a list with; an empty string for fp32.
inline std::string with_precision(Precision precision) {
  if (precision == Precision::kFp32) return "";
  return std::string(", ") + name_of(precision) + " precision";
}

/// Batches are global: the samples of all ranks in one forward and backward. So a plan has the same
/// meaning for any number of ranks. A step is a step of the optimizer, after `accumulate` batches.
struct Plan {
  std::string model = "mlp";
  std::string strategy = "single";
  int ranks = 1;
  int nodes = 1;         // of the cluster; only in the sandbox
  Cluster cluster = {};  // for the timeline's virtual time; only in the sandbox

  std::int64_t epochs = 1;
  std::int64_t batch = 1;
  std::int64_t accumulate = 1;  // batches per step
  OptimizerKind optimizer = OptimizerKind::kSgd;
  double learning_rate = 0;        // the highest, see learning_rate.h
  std::int64_t warmup_steps = 0;   // of the learning rate
  Decay decay = Decay::kConstant;  // of the learning rate
  double momentum = 0.9;           // of sgd
  double weight_decay = 0;         // L2 in sgd, decoupled in adam
  double clip_norm = 0;            // the largest norm of a step's gradients; 0: any
  Precision precision = Precision::kFp32;
  std::uint64_t seed = 1;  // of initial values and of the order of samples

  std::int64_t samples = 0;  // number of training samples; 0: all
  std::string data;          // the folder with MNIST's files; "": embedded data

  std::string save;             // the checkpoint; "": none
  std::int64_t save_every = 0;  // steps; 0: only after epochs
  bool resume = false;          // resume from the checkpoint
  std::int64_t eval_every = 0;  // steps; 0: only after epochs
  BestBy keep_best = BestBy::kNothing;

  std::string all_reduce = "native";  // for averaging gradients, see all_reduce.h
  double bucket_mib = 0;              // of gradients in one all-reduce (ddp); 0: a parameter each
  bool overlap = false;               // all-reduces buckets during backward (ddp)
  std::vector<std::string> yours;     // exercises whose function is the learner's

  std::int64_t bucket_bytes() const {
    return std::max(static_cast<std::int64_t>(bucket_mib * 1024 * 1024), std::int64_t{1});
  }
  std::int64_t samples_per_step() const { return batch * accumulate; }
  /// Returns the number of steps in an epoch: one that is not full is left out.
  std::int64_t steps_per_epoch(std::int64_t all_samples) const {
    return all_samples / samples_per_step();
  }
};

}  // namespace rankbox::train
