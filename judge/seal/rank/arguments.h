// How a rank process makes each type of argument: Made<P> reads what Argument<P> of
// judge/seal/referee/arguments.h wrote, and get() is the argument.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "judge/seal/rank/comm.h"
#include "judge/seal/state.h"
#include "judge/seal/values.h"
#include "parallel/checkpoint_rank0.h"
#include "parallel/shard.h"

namespace rankbox::seal {

/// A call that this process carries out.
struct Invocation {
  State state = {};
  const TrainingState* training = nullptr;  // the argument of this type
};

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
  Made(Invocation& /*call*/, ByteReader& reader) : comm_(next_communicator(reader)) {}
  Comm& get() { return comm_; }

 private:
  Comm comm_;
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
class Made<const std::vector<std::int64_t>&> {
 public:
  Made(Invocation& /*call*/, ByteReader& reader) { reader.get(numbers_); }
  const std::vector<std::int64_t>& get() { return numbers_; }

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

}  // namespace rankbox::seal
