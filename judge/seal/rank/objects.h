// How a rank process makes arguments with behaviour: stand-ins for the referee's objects, and
// its layers. See judge/seal/rank/arguments.h.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "judge/seal/rank/arguments.h"
#include "judge/seal/rank/shared_argument.h"
#include "judge/seal/rank/stand_ins.h"
#include "parallel/expert_parallel_layer.h"
#include "parallel/parallel_attention.h"
#include "parallel/parallel_mlp.h"
#include "parallel/stage.h"
#include "training/layers/linear.h"
#include "training/sequential.h"

namespace rankbox::seal {

/// The Saveds of this case, by the referee's number.
std::map<std::uint32_t, Saved>& saveds();

/// @param prefix of the parameters' names, which Sequential::add puts there
inline std::unique_ptr<StandInLayer> make_layer(Invocation& call, ByteReader& reader,
                                                const std::string& prefix = "") {
  auto layer = std::make_unique<StandInLayer>(reader.next<std::size_t>());
  const std::size_t before = call.state.size();
  layer->owned_parameters = make_parameters(call, reader);
  layer->owned_statistics = make_tensors(call, reader);
  layer->state = call.state.since(before);
  const auto shorten = [&](std::string& name) {
    if (!prefix.empty() && name.starts_with(prefix + ".")) name = name.substr(prefix.size() + 1);
  };
  for (const auto& parameter : layer->owned_parameters) shorten(parameter->name);
  for (const auto& tensor : layer->owned_statistics) shorten(tensor->name);
  return layer;
}

template <>
class Made<Layer&> {
 public:
  Made(Invocation& call, ByteReader& reader) : layer_(make_layer(call, reader)) {}
  Layer& get() { return *layer_; }

 private:
  std::unique_ptr<StandInLayer> layer_;
};

template <>
class Made<Sequential&> {
 public:
  Made(Invocation& call, ByteReader& reader) {
    for (auto left = reader.next<std::int64_t>(); left > 0; --left) {
      const auto name = reader.next<std::string>();
      model_.add(name, make_layer(call, reader, name));
    }
  }
  Sequential& get() { return model_; }

 private:
  Sequential model_;
};

Stage make_stage(Invocation& call, ByteReader& reader);

template <>
class Made<Stage&> {
 public:
  Made(Invocation& call, ByteReader& reader) : stage_(make_stage(call, reader)) {}
  Stage& get() { return stage_; }

 private:
  Stage stage_;
};

template <>
class Made<std::vector<Stage>&> {
 public:
  Made(Invocation& call, ByteReader& reader) {
    for (auto left = reader.next<std::size_t>(); left > 0; --left)
      chunks_.push_back(make_stage(call, reader));
  }
  std::vector<Stage>& get() { return chunks_; }

 private:
  std::vector<Stage> chunks_;
};

template <>
class Made<Optimizer&> {
 public:
  Made(Invocation& call, ByteReader& /*reader*/) : optimizer_(call.state) {}
  Optimizer& get() { return optimizer_; }

 private:
  StandInOptimizer optimizer_;
};

template <>
class Made<Saved&> {
 public:
  Made(Invocation& /*call*/, ByteReader& reader)
      : saved_(saveds().try_emplace(reader.next<std::uint32_t>()).first->second) {
    Pass pass = next_pass(reader);
    const auto layers = reader.next<std::size_t>();
    if (!saved_.empty()) return;
    saved_ = Saved(std::move(pass));
    for (std::size_t i = 0; i < layers; ++i) saved_.push(std::make_shared<PassToken>(0));
  }
  Saved& get() { return saved_; }

 private:
  Saved& saved_;
};

template <>
class Made<SharedValue&> {
 public:
  Made(Invocation& /*call*/, ByteReader& /*reader*/) { set_shared_argument(&value_); }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;
  ~Made() { set_shared_argument(nullptr); }
  SharedValue& get() { return value_; }

 private:
  SharedValue value_;
};

template <>
class Made<Linear&> {
 public:
  Made(Invocation& call, ByteReader& reader) : linear_(make(reader)) {
    make_parameter(call, reader, linear_.weight);
    make_parameter(call, reader, linear_.bias);
  }
  Linear& get() { return linear_; }

 private:
  static Linear make(ByteReader& reader) {
    Tensor weights = next_tensor<float>(reader);
    return {std::move(weights), next_tensor<float>(reader)};
  }
  Linear linear_;
};

template <>
class Made<ParallelMlp&> {
 public:
  Made(Invocation& call, ByteReader& reader)
      : fc1_(call, reader), activation_(call, reader), fc2_(call, reader), bias_(call, reader) {}
  ParallelMlp& get() { return shard_; }

 private:
  Made<Linear&> fc1_;
  Made<Layer&> activation_;
  Made<Linear&> fc2_;
  Made<Parameter&> bias_;
  ParallelMlp shard_{fc1_.get(), activation_.get(), fc2_.get(), bias_.get()};
};

template <>
class Made<ParallelAttention&> {
 public:
  Made(Invocation& call, ByteReader& reader)
      : qkv_(call, reader),
        out_(call, reader),
        bias_(call, reader),
        shard_{qkv_.get(), out_.get(), bias_.get(), reader.next<std::int64_t>()} {}
  ParallelAttention& get() { return shard_; }

 private:
  Made<Linear&> qkv_;
  Made<Linear&> out_;
  Made<Parameter&> bias_;
  ParallelAttention shard_;
};

template <>
class Made<ExpertLayer&> {
 public:
  Made(Invocation& call, ByteReader& reader)
      : router_(call, reader),
        weights_(call, reader),
        layer_{router_.get(), weights_.get(), reader.next<int>()} {}
  ExpertLayer& get() { return layer_; }

 private:
  Made<Linear&> router_;
  Made<Parameter&> weights_;
  ExpertLayer layer_;
};

}  // namespace rankbox::seal
