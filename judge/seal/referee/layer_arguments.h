// How the referee sends a rank's part of a layer, which computes in the rank process.
#pragma once

#include "judge/seal/referee/arguments.h"
#include "parallel/expert_parallel_layer.h"
#include "parallel/parallel_attention.h"
#include "parallel/parallel_mlp.h"

namespace rankbox::seal {

/// A layer that computes in the rank process.
template <>
struct Argument<Linear&> {
  static void describe(Call& call, ByteWriter& writer, Linear& linear) {
    put_tensor(writer, linear.weight.value);
    put_tensor(writer, linear.bias.value);
    describe_parameter(call, writer, linear.weight);
    describe_parameter(call, writer, linear.bias);
  }
};

template <>
struct Argument<ParallelMlp&> {
  static void describe(Call& call, ByteWriter& writer, ParallelMlp& shard) {
    Argument<Linear&>::describe(call, writer, shard.fc1);
    Argument<Layer&>::describe(call, writer, shard.activation);
    Argument<Linear&>::describe(call, writer, shard.fc2);
    Argument<Parameter&>::describe(call, writer, shard.bias);
  }
};

template <>
struct Argument<ParallelAttention&> {
  static void describe(Call& call, ByteWriter& writer, ParallelAttention& shard) {
    Argument<Linear&>::describe(call, writer, shard.qkv);
    Argument<Linear&>::describe(call, writer, shard.out);
    Argument<Parameter&>::describe(call, writer, shard.bias);
    writer.put(shard.heads);
  }
};

template <>
struct Argument<ExpertLayer&> {
  static void describe(Call& call, ByteWriter& writer, ExpertLayer& layer) {
    Argument<Linear&>::describe(call, writer, layer.router);
    Argument<Parameter&>::describe(call, writer, layer.weights);
    writer.put(layer.k);
  }
};

}  // namespace rankbox::seal
