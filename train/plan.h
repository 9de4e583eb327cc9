// The plan of a training run: the command line as values.
#pragma once

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

/// Batches are global: the samples of all ranks in one step. So a plan has the same meaning for any
/// number of ranks.
struct Plan {
  std::string model = "mlp";
  std::string strategy = "single";
  int ranks = 1;
  int nodes = 1;         // of the cluster; only in the sandbox
  Cluster cluster = {};  // for the timeline's virtual time; only in the sandbox

  std::int64_t epochs = 1;
  std::int64_t batch = 1;
  OptimizerKind optimizer = OptimizerKind::kSgd;
  double learning_rate = 0;
  Precision precision = Precision::kFp32;
  std::uint64_t seed = 1;  // of initial values and of the order of samples

  std::int64_t samples = 0;  // number of training samples; 0: all
  std::string data;          // the folder with MNIST's files; "": embedded data

  std::string save;             // the checkpoint; "": none
  std::int64_t save_every = 0;  // steps; 0: only after epochs
  bool resume = false;          // resume from the checkpoint

  std::string all_reduce = "native";  // for averaging gradients, see all_reduce.h
  std::vector<std::string> yours;     // exercises whose function is the learner's
};

}  // namespace rankbox::train
