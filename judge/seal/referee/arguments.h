// How the referee sends each type of argument: Argument<P>::describe writes what the rank process
// needs to make its own, and adds to the call's state what the function may change.
//
// judge/seal/rank/arguments.h reads the same, in the same order. layer_arguments.h has the parts of
// layers that compute in the rank process.
#pragma once

#include <span>
#include <type_traits>

#include "judge/memory_window.h"
#include "judge/seal/referee/call.h"
#include "judge/seal/referee/link.h"
#include "judge/seal/values.h"
#include "parallel/checkpoint_rank0.h"
#include "parallel/shard.h"
#include "training/sequential.h"

namespace rankbox::seal {

/// Values: numbers, enums, plain structs.
template <class P>
struct Argument {
  static_assert(std::is_trivially_copyable_v<std::remove_cvref_t<P>>);
  static void describe(Call& call, ByteWriter& writer, P value) {
    writer.put(value);
    if constexpr (std::is_lvalue_reference_v<P> && !std::is_const_v<std::remove_reference_t<P>>) {
      call.state.add([&value](ByteWriter& w) { w.put(value); },
                     [&value](ByteReader& r) {
                       if constexpr (std::is_same_v<std::remove_cvref_t<P>, bool>) {
                         value = r.next<std::uint8_t>() != 0;  // any other byte is no bool
                       } else {
                         r.get(value);
                       }
                     });
    }
  }
};

template <>
struct Argument<Comm&> {
  static void describe(Call& call, ByteWriter& writer, Comm& dist) {
    if (call.dist == nullptr) call.dist = &dist;
    std::vector<Comm>& known = current_link().communicators;
    writer.put(static_cast<std::uint32_t>(known.size()));
    writer.put(dist.rank());
    writer.put(dist.world_size());
    known.push_back(dist);
  }
};

template <class T>
struct Argument<const TensorOf<T>&> {
  static void describe(Call& /*call*/, ByteWriter& writer, const TensorOf<T>& tensor) {
    put_tensor(writer, tensor);
  }
};

template <>
struct Argument<Tensor> : Argument<const Tensor&> {};

template <class T>
struct Argument<TensorOf<T>&> {
  static void describe(Call& call, ByteWriter& writer, TensorOf<T>& tensor) {
    put_tensor(writer, tensor);
    call.state.add([&](ByteWriter& w) { put_tensor(w, tensor); },
                   [&](ByteReader& r) { get_tensor(r, tensor); });
  }
};

template <class T>
struct Argument<const std::vector<TensorOf<T>>&> {
  static void describe(Call& /*call*/, ByteWriter& writer,
                       const std::vector<TensorOf<T>>& tensors) {
    writer.put(tensors.size());
    for (const TensorOf<T>& tensor : tensors) put_tensor(writer, tensor);
  }
};

template <>
struct Argument<const std::string&> {
  static void describe(Call& call, ByteWriter& writer, const std::string& text) {
    call.path = text;
    writer.put(text);
  }
};

template <>
struct Argument<std::vector<std::int64_t>&> {
  static void describe(Call& call, ByteWriter& writer, std::vector<std::int64_t>& numbers) {
    writer.put(numbers);
    call.state.add([&](ByteWriter& w) { w.put(numbers); }, [&](ByteReader& r) { r.get(numbers); });
  }
};

template <>
struct Argument<const std::vector<std::int64_t>&> {
  static void describe(Call& /*call*/, ByteWriter& writer,
                       const std::vector<std::int64_t>& numbers) {
    writer.put(numbers);
  }
};

template <>
struct Argument<std::span<const std::int32_t>> {
  static void describe(Call& /*call*/, ByteWriter& writer, std::span<const std::int32_t> numbers) {
    writer.put(std::vector<std::int32_t>(numbers.begin(), numbers.end()));
  }
};

template <>
struct Argument<const SamplerOptions&> {
  static void describe(Call& /*call*/, ByteWriter& writer, const SamplerOptions& options) {
    writer.put(options);
  }
};

template <>
struct Argument<Share&> {
  static void describe(Call& call, ByteWriter& /*writer*/, Share& share) {
    call.state.add(
        [&](ByteWriter& w) {
          w.put(share.samples);
          w.put(share.padding);
        },
        [&](ByteReader& r) {
          r.get(share.samples);
          r.get(share.padding);
        });
  }
};

template <>
struct Argument<Loss&> {
  static void describe(Call& call, ByteWriter& /*writer*/, Loss& loss) {
    call.state.add([&](ByteWriter& w) { put_loss(w, loss); },
                   [&](ByteReader& r) { get_loss(r, loss); });
  }
};

template <>
struct Argument<const Loss&> {
  static void describe(Call& /*call*/, ByteWriter& writer, const Loss& loss) {
    put_loss(writer, loss);
  }
};

template <>
struct Argument<const Batch&> {
  static void describe(Call& /*call*/, ByteWriter& writer, const Batch& batch) {
    put_batch(writer, batch);
  }
};

template <>
struct Argument<const std::vector<Batch>&> {
  static void describe(Call& /*call*/, ByteWriter& writer, const std::vector<Batch>& batches) {
    writer.put(batches.size());
    for (const Batch& batch : batches) put_batch(writer, batch);
  }
};

// ---- Parameters -------------------------------------------------------------------------------

/// Throws std::runtime_error if a tensor that had elements now has another number of them: layers
/// and optimizers of the referee compute with the sizes that they were made for. It may be dropped.
inline void check_kept_size(const Tensor& tensor, std::int64_t size) {
  if (size > 0 && !tensor.empty() && tensor.size() != size)
    throw std::runtime_error("a parameter or statistic of another size");
}

inline void describe_parameter(Call& call, ByteWriter& writer, Parameter& parameter) {
  writer.put(parameter.name);
  call.state.add([&](ByteWriter& w) { put_parameter(w, parameter); },
                 [&, size = parameter.value.size()](ByteReader& r) {
                   get_parameter(r, parameter);
                   check_kept_size(parameter.value, size);
                   check_kept_size(parameter.gradient, size);
                 });
}

template <>
struct Argument<Parameter&> {
  static void describe(Call& call, ByteWriter& writer, Parameter& parameter) {
    describe_parameter(call, writer, parameter);
  }
};

template <>
struct Argument<const std::vector<Parameter*>&> {
  static void describe(Call& call, ByteWriter& writer, const std::vector<Parameter*>& parameters) {
    writer.put(parameters.size());
    for (Parameter* parameter : parameters) describe_parameter(call, writer, *parameter);
  }
};

inline void describe_tensors(Call& call, ByteWriter& writer,
                             const std::vector<NamedTensor*>& tensors) {
  writer.put(tensors.size());
  for (NamedTensor* tensor : tensors) {
    writer.put(tensor->name);
    call.state.add([tensor](ByteWriter& w) { put_tensor(w, tensor->value); },
                   [tensor, size = tensor->value.size()](ByteReader& r) {
                     get_tensor(r, tensor->value);
                     check_kept_size(tensor->value, size);
                     if (size > 0 && tensor->value.empty())
                       throw std::runtime_error("a statistic without values");
                   });
  }
}

template <>
struct Argument<const std::vector<NamedTensor*>&> {
  static void describe(Call& call, ByteWriter& writer, const std::vector<NamedTensor*>& tensors) {
    describe_tensors(call, writer, tensors);
  }
};

template <>
struct Argument<Shard&> {
  static void describe(Call& call, ByteWriter& writer, Shard& shard) {
    writer.put(shard.shapes.size());
    for (const Shape& shape : shard.shapes) put_shape(writer, shape);
    describe_parameter(call, writer, shard.mine);
  }
};

template <>
struct Argument<std::vector<Shard>&> {
  static void describe(Call& call, ByteWriter& writer, std::vector<Shard>& shards) {
    writer.put(shards.size());
    for (std::size_t i = 0; i < shards.size(); ++i) {
      // Known even where values were dropped: a shard for each layer.
      if (i < call.layers.size()) call.layers[i].shapes = shards[i].shapes;
      Argument<Shard&>::describe(call, writer, shards[i]);
    }
  }
};

template <>
struct Argument<const TrainingState&> {
  static void describe(Call& call, ByteWriter& writer, const TrainingState& state) {
    call.checkpoint = &state;
    writer.put(state.model);
    writer.put(state.numbers.size());
    for (const auto& [name, number] : state.numbers) {
      writer.put(name);
      call.state.add([number = number](ByteWriter& w) { w.put(*number); },
                     [number = number](ByteReader& r) { r.get(*number); });
    }
    writer.put(state.tensors.size());
    for (const auto& [name, tensor] : state.tensors) {
      writer.put(name);
      put_slice(writer, tensor);
      call.state.add([tensor = tensor](ByteWriter& w) { put_slice(w, tensor); },
                     [tensor = tensor](ByteReader& r) { get_slice(r, tensor); });
    }
  }
};

// ---- Objects with behaviour, which stay here --------------------------------------------------

inline void describe_layer(Call& call, ByteWriter& writer, Layer& layer) {
  writer.put(call.layers.size());  // its number in requests
  SharedLayer shared{&layer};
  for (const Parameter* parameter : layer.parameters())
    shared.shapes.push_back(parameter->value.shape());
  const std::size_t before = call.state.size();
  Argument<const std::vector<Parameter*>&>::describe(call, writer, layer.parameters());
  describe_tensors(call, writer, layer.statistics());
  shared.state = call.state.since(before);
  call.layers.push_back(std::move(shared));
}

template <>
struct Argument<Layer&> {
  static void describe(Call& call, ByteWriter& writer, Layer& layer) {
    describe_layer(call, writer, layer);
  }
};

template <>
struct Argument<Sequential&> {
  static void describe(Call& call, ByteWriter& writer, Sequential& model) {
    writer.put(model.size());
    for (std::int64_t i = 0; i < model.size(); ++i) {
      writer.put(model.name(i));
      describe_layer(call, writer, model.layer(i));
    }
  }
};

template <>
struct Argument<Stage&> {
  static void describe(Call& call, ByteWriter& writer, Stage& stage) {
    const StageCut& cut = stage.cut();
    writer.put(std::tuple(cut.begin, cut.end, cut.stage, cut.stages));
    put_shape(writer, cut.input);
    put_shape(writer, cut.output);
    writer.put(stage.micro_batches());
    for (int i = 0; i < stage.micro_batches(); ++i) put_batch(writer, stage.batch(i));
    writer.put(stage.step());
    const std::size_t first = call.layers.size();
    Argument<Sequential&>::describe(call, writer, stage.layers());
    writer.put(call.stages.size());  // its number in requests
    call.stages.push_back({&stage, first, call.layers.size()});
  }
};

template <>
struct Argument<std::vector<Stage>&> {
  static void describe(Call& call, ByteWriter& writer, std::vector<Stage>& chunks) {
    writer.put(chunks.size());
    for (Stage& chunk : chunks) Argument<Stage&>::describe(call, writer, chunk);
  }
};

template <>
struct Argument<Optimizer&> {
  static void describe(Call& call, ByteWriter& /*writer*/, Optimizer& optimizer) {
    call.optimizer = &optimizer;
  }
};

/// The rank process keeps its own under this key, from one call to the next.
template <>
struct Argument<Saved&> {
  static void describe(Call& call, ByteWriter& writer, Saved& saved) {
    call.saved = &saved;
    // A number: an address would help a program that attacks the referee.
    auto& numbers = current_link().saved_arguments;
    writer.put(
        numbers.try_emplace(&saved, static_cast<std::uint32_t>(numbers.size())).first->second);
    put_pass(writer, saved.pass());
    // If there is something, a forward pass of the referee saved it for each layer.
    writer.put(saved.empty() ? std::size_t{0} : call.layers.size());
  }
};

/// The value stays here: its loads and stores are requests.
template <>
struct Argument<SharedValue&> {
  static void describe(Call& call, ByteWriter& /*writer*/, SharedValue& value) {
    call.shared.argument = &value;
    call.shared.value = value.final_value();
  }
};

/// What a family calls instead of the learner's function.
template <class Function>
struct Stub;

template <class... P>
struct Stub<void(P...)> {
  static void call(P... arguments) {
    UncountedMemory uncounted;
    Call call;
    ByteWriter writer;
    (Argument<P>::describe(call, writer, arguments), ...);
    call.state.put(writer);
    carry_out(call, writer.bytes);
    uncounted.count(call.most_held, call.held);
  }
};

}  // namespace rankbox::seal
