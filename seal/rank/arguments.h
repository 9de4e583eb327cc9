// How a rank process makes each type of argument: Made<P> reads what Argument<P> of
// seal/referee/arguments.h wrote, and get() is the argument.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "parallel/checkpoint_rank0.h"
#include "parallel/parallel_attention.h"
#include "parallel/parallel_mlp.h"
#include "parallel/shard.h"
#include "parallel/stage.h"
#include "seal/rank/stand_ins.h"

namespace rankbox::seal {

/// A call that this process carries out.
struct Invocation {
  Comm dist;
  State state = {};
};

/// The Saveds of this case, by the referee's key.
std::map<std::uintptr_t, Saved>& saveds();

template <class P>
class Made {
 public:
  Made(Invocation& call, ByteReader& reader) : value_(reader.next<Value>()) {
    if constexpr (std::is_lvalue_reference_v<P> && !std::is_const_v<std::remove_reference_t<P>>) {
      call.state.add([this](ByteWriter& w) { w.put(value_); },
                     [this](ByteReader& r) { r.get(value_); });
    }
  }
  P get() { return value_; }

 private:
  using Value = std::remove_cvref_t<P>;
  Value value_;
};

template <>
class Made<Comm&> {
 public:
  Made(Invocation& call, ByteReader& /*reader*/) : call_(call) {}
  Comm& get() { return call_.dist; }

 private:
  Invocation& call_;
};

template <class T>
class Made<const TensorOf<T>&> {
 public:
  Made(Invocation& /*call*/, ByteReader& reader) : tensor_(next_tensor<T>(reader)) {}
  const TensorOf<T>& get() { return tensor_; }

 private:
  TensorOf<T> tensor_;
};

template <>
class Made<Tensor> {
 public:
  Made(Invocation& /*call*/, ByteReader& reader) : tensor_(next_tensor<float>(reader)) {}
  Tensor get() { return std::move(tensor_); }

 private:
  Tensor tensor_;
};

template <class T>
class Made<TensorOf<T>&> {
 public:
  Made(Invocation& call, ByteReader& reader) : tensor_(next_tensor<T>(reader)) {
    call.state.add([this](ByteWriter& w) { put_tensor(w, tensor_); },
                   [this](ByteReader& r) { get_tensor(r, tensor_); });
  }
  TensorOf<T>& get() { return tensor_; }

 private:
  TensorOf<T> tensor_;
};

template <class T>
class Made<const std::vector<TensorOf<T>>&> {
 public:
  Made(Invocation& /*call*/, ByteReader& reader) {
    for (auto left = reader.next<std::size_t>(); left > 0; --left)
      tensors_.push_back(next_tensor<T>(reader));
  }
  const std::vector<TensorOf<T>>& get() { return tensors_; }

 private:
  std::vector<TensorOf<T>> tensors_;
};

template <>
class Made<const std::string&> {
 public:
  Made(Invocation& /*call*/, ByteReader& reader) : text_(reader.next<std::string>()) {}
  const std::string& get() { return text_; }

 private:
  std::string text_;
};

template <>
class Made<std::vector<std::int64_t>&> {
 public:
  Made(Invocation& call, ByteReader& reader) {
    reader.get(numbers_);
    call.state.add([this](ByteWriter& w) { w.put(numbers_); },
                   [this](ByteReader& r) { r.get(numbers_); });
  }
  std::vector<std::int64_t>& get() { return numbers_; }

 private:
  std::vector<std::int64_t> numbers_;
};

template <>
class Made<std::span<const std::int32_t>> {
 public:
  Made(Invocation& /*call*/, ByteReader& reader) { reader.get(numbers_); }
  std::span<const std::int32_t> get() { return numbers_; }

 private:
  std::vector<std::int32_t> numbers_;
};

template <>
class Made<Share&> {
 public:
  Made(Invocation& call, ByteReader& /*reader*/) {
    call.state.add(
        [this](ByteWriter& w) {
          w.put(share_.samples);
          w.put(share_.padding);
        },
        [this](ByteReader& r) {
          r.get(share_.samples);
          r.get(share_.padding);
        });
  }
  Share& get() { return share_; }

 private:
  Share share_;
};

template <>
class Made<Loss&> {
 public:
  Made(Invocation& call, ByteReader& /*reader*/) {
    call.state.add([this](ByteWriter& w) { put_loss(w, loss_); },
                   [this](ByteReader& r) { get_loss(r, loss_); });
  }
  Loss& get() { return loss_; }

 private:
  Loss loss_;
};

template <>
class Made<const Loss&> {
 public:
  Made(Invocation& /*call*/, ByteReader& reader) { get_loss(reader, loss_); }
  const Loss& get() { return loss_; }

 private:
  Loss loss_;
};

template <>
class Made<const Batch&> {
 public:
  Made(Invocation& /*call*/, ByteReader& reader) : batch_(next_batch(reader)) {}
  const Batch& get() { return batch_; }

 private:
  Batch batch_;
};

template <>
class Made<const std::vector<Batch>&> {
 public:
  Made(Invocation& /*call*/, ByteReader& reader) {
    for (auto left = reader.next<std::size_t>(); left > 0; --left)
      batches_.push_back(next_batch(reader));
  }
  const std::vector<Batch>& get() { return batches_; }

 private:
  std::vector<Batch> batches_;
};

// ---- Parameters -------------------------------------------------------------------------------

inline void make_parameter(Invocation& call, ByteReader& reader, Parameter& parameter) {
  reader.get(parameter.name);
  call.state.add([&](ByteWriter& w) { put_parameter(w, parameter); },
                 [&](ByteReader& r) { get_parameter(r, parameter); });
}

inline std::vector<std::unique_ptr<Parameter>> make_parameters(Invocation& call,
                                                               ByteReader& reader) {
  std::vector<std::unique_ptr<Parameter>> made;
  for (auto left = reader.next<std::size_t>(); left > 0; --left) {
    made.push_back(std::make_unique<Parameter>());
    make_parameter(call, reader, *made.back());
  }
  return made;
}

inline std::vector<std::unique_ptr<NamedTensor>> make_tensors(Invocation& call,
                                                              ByteReader& reader) {
  std::vector<std::unique_ptr<NamedTensor>> made;
  for (auto left = reader.next<std::size_t>(); left > 0; --left) {
    made.push_back(std::make_unique<NamedTensor>());
    NamedTensor* const tensor = made.back().get();
    reader.get(tensor->name);
    call.state.add([tensor](ByteWriter& w) { put_tensor(w, tensor->value); },
                   [tensor](ByteReader& r) { get_tensor(r, tensor->value); });
  }
  return made;
}

template <>
class Made<Parameter&> {
 public:
  Made(Invocation& call, ByteReader& reader) { make_parameter(call, reader, parameter_); }
  Parameter& get() { return parameter_; }

 private:
  Parameter parameter_;
};

template <class T, auto kMake>
class MadePointers {
 public:
  MadePointers(Invocation& call, ByteReader& reader) : owned_(kMake(call, reader)) {
    for (const auto& each : owned_) pointers_.push_back(each.get());
  }
  const std::vector<T*>& get() { return pointers_; }

 private:
  std::vector<std::unique_ptr<T>> owned_;
  std::vector<T*> pointers_;
};

template <>
class Made<const std::vector<Parameter*>&> : public MadePointers<Parameter, make_parameters> {
  using MadePointers::MadePointers;
};

template <>
class Made<const std::vector<NamedTensor*>&> : public MadePointers<NamedTensor, make_tensors> {
  using MadePointers::MadePointers;
};

inline void make_shard(Invocation& call, ByteReader& reader, Shard& shard) {
  for (auto left = reader.next<std::size_t>(); left > 0; --left)
    shard.shapes.push_back(next_shape(reader));
  make_parameter(call, reader, shard.mine);
}

template <>
class Made<Shard&> {
 public:
  Made(Invocation& call, ByteReader& reader) { make_shard(call, reader, shard_); }
  Shard& get() { return shard_; }

 private:
  Shard shard_;
};

template <>
class Made<std::vector<Shard>&> {
 public:
  Made(Invocation& call, ByteReader& reader) : shards_(reader.next<std::size_t>()) {
    for (Shard& shard : shards_) make_shard(call, reader, shard);
  }
  std::vector<Shard>& get() { return shards_; }

 private:
  std::vector<Shard> shards_;
};

template <>
class Made<const TrainingState&> {
 public:
  Made(Invocation& call, ByteReader& reader);
  const TrainingState& get() { return state_; }

 private:
  TrainingState state_;
  std::vector<std::unique_ptr<std::int64_t>> numbers_;
  std::vector<std::unique_ptr<Tensor>> floats_;
};

// ---- Objects with behaviour -------------------------------------------------------------------

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
      : saved_(saveds().try_emplace(reader.next<std::uintptr_t>()).first->second) {
    Pass pass = next_pass(reader);
    if (saved_.empty()) saved_ = Saved(std::move(pass));
  }
  Saved& get() { return saved_; }

 private:
  Saved& saved_;
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

}  // namespace rankbox::seal
