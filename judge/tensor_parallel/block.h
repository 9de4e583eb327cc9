// A block: a column-cut linear layer, a layer between, a row-cut linear layer.
//
// The blocks of a transformer have this shape, so the same mistakes occur in them.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "comm/comm.h"
#include "judge/tensor_parallel/whole_and_parts.h"
#include "parallel/direction.h"
#include "training/layer.h"
#include "training/layers/linear.h"

namespace rankbox {

struct BlockShape {
  const char* first;  // the names of the linear layers
  const char* last;
  std::int64_t in = 0;
  std::int64_t first_out = 0;
  std::int64_t last_in = 0;
  std::int64_t out = 0;
};

/// Returns an MLP with two hidden units per rank.
BlockShape mlp_shape(std::int64_t in, std::int64_t out, int world_size);

/// The linear layers of the whole block.
struct Block {
  explicit Block(const BlockShape& shape);

  Linear first;
  Linear last;

  std::vector<Parameter*> parameters() {
    return {&first.weight, &first.bias, &last.weight, &last.bias};
  }
};

/// A rank's part of the linear layers.
struct BlockShard {
  BlockShard(const Block& whole, int rank, int world_size);

  Linear first;
  Linear last;
  Parameter bias;  // of the last layer, whole

  std::vector<Parameter*> parameters() { return {&first.weight, &first.bias, &last.weight, &bias}; }
};

/// Three layers in a row. REQUIRES: the layers outlive it.
class Chain : public Layer {
 public:
  Chain(Layer& first, Layer& middle, Layer& last) : layers_{&first, &middle, &last} {}

  Tensor forward(Tensor x, Saved& saved) override {
    for (Layer* const layer : layers_) x = layer->forward(std::move(x), saved);
    return x;
  }
  Tensor backward(Tensor dy, Saved& saved) override {
    for (int i = 2; i >= 0; --i) dy = layers_[i]->backward(std::move(dy), saved);
    return dy;
  }

 private:
  Layer* layers_[3];
};

/// Both directions of a block, on all ranks.
struct BlockRun {
  BlockShape shape;
  Layer& middle;      // of the whole block
  Layer& own_middle;  // of this rank's part
  Tensor x;           // of the whole block
  Tensor dy;          // of the whole block
  Pass pass = {};
  bool cut_by_rows = false;  // ranks have only their rows of x, y, dy and dx
  bool two_batches = false;  // in flight at once
  float gradient_before = kGradientBefore;
};

/// The function under judgement, in one direction.
using BlockFunction =
    std::function<void(BlockShard& shard, Direction direction, Tensor& tensor, Saved& saved)>;

/// Compares y, dx and the gradients of this rank's shard with those of the whole block on one rank.
std::optional<Difference> compare_block(const Comm& dist, const BlockRun& run,
                                        const BlockFunction& function);

}  // namespace rankbox
