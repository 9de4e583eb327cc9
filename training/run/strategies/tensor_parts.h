// A model for tensor parallelism.
//
// Where only an activation or attention lies between two linear layers, the first is cut by columns
// and the second by rows. All other layers are whole on every rank.
//
//   mlp              fc1 │ relu1 │ fc2    relu2  fc3
//   a block          norm  qkv │ heads │ out  dropout      norm  fc1 │ gelu │ fc2  dropout
//                          └──── cut ──────┘                     └──── cut ────┘
//
// The layers are found in the model itself, so any depth works. A rank builds the whole model first
// and frees the other ranks' parts: initial values are those of the whole model.
#pragma once

#include <string>
#include <vector>

#include "comm/comm.h"
#include "training/run/strategies/cut_trainer.h"
#include "training/sequential.h"

namespace rankbox::train {

class TensorParts {
 public:
  /// On one rank nothing is cut. Throws InvalidArgument, in one line with the fix, for a model
  /// without such layers, or whose layers or heads cannot be sharded over this many ranks.
  TensorParts(Comm& dist, const Model& recipes, const std::string& model_name);

  /// Collective, with the same batch on all ranks.
  Tensor forward(Tensor x, Saved& saved) { return parts_.forward(std::move(x), saved); }
  void backward(Tensor dy, Saved& saved) { parts_.backward(std::move(dy), saved); }

  /// Returns the parameters in the same order on all ranks.
  const std::vector<ShardedParameter>& parameters() const { return parameters_; }
  std::vector<NamedTensor*> statistics() { return whole_.statistics(); }

 private:
  /// Returns the layers of this rank in sequence, without their own parameters().
  std::unique_ptr<Sequential> cut(Sequential& layers);
  std::unique_ptr<Layer> cut(Layer& layer, const std::string& name);
  /// Returns the block of layers i, i+1 and i+2; null if they do not form one.
  std::unique_ptr<Layer> block_at(Sequential& layers, std::int64_t i);

  Comm& dist_;
  Sequential whole_;  // its uncut layers are used; the others lose their values
  std::vector<ShardedParameter> parameters_;
  bool has_blocks_ = false;
  Sequential parts_;
};

}  // namespace rankbox::train
