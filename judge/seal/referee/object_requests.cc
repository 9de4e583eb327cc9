#include "judge/seal/referee/object_requests.h"

#include <stdexcept>
#include <utility>
#include <vector>

#include "judge/seal/values.h"

namespace rankbox::seal {

namespace {

/// Takes over the layer's parameters. It computes with their sizes, and must not read or write
/// beyond what the rank process sent.
void take_state(const SharedLayer& shared, ByteReader& reader) {
  shared.state.get(reader);
  const std::vector<Parameter*> parameters = shared.layer->parameters();
  if (parameters.size() != shared.shapes.size()) throw std::runtime_error("other parameters");
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = *parameters[i];
    const Shape& shape = shared.shapes[i];
    if (parameter.value.shape() != shape)
      throw InvalidArgument(parameter.name + " does not have its values");
    if (!parameter.gradient.empty() && parameter.gradient.shape() != shape)
      throw std::runtime_error("a gradient of another shape");
  }
}

std::size_t next_layer(const Call& call, ByteReader& reader) {
  const auto number = reader.next<std::size_t>();
  if (number >= call.layers.size()) throw std::runtime_error("no such layer");
  take_state(call.layers[number], reader);
  return number;
}

/// A stage's layers may only be used in a pass that it announced. So the order of passes, which the
/// trace shows, is the order in which they were made.
void use_in_turn(Call& call, std::size_t layer, Turn turn) {
  if (call.stages.empty()) return;
  const StageLayers& stage = call.stages[call.turning];
  const bool is_its_own = layer >= stage.first && layer < stage.end;
  if (call.layers_left == 0 || call.turn != turn || !is_its_own)
    throw std::runtime_error("a pass through a stage's layers without Stage::forward or backward");
  --call.layers_left;
}

void forward(Link& link, Call& call, ByteReader& reader, ByteWriter& reply) {
  const std::size_t number = next_layer(call, reader);
  const Pass pass = next_pass(reader);
  Tensor x = next_tensor<float>(reader);
  use_in_turn(call, number, Turn::kForward);
  Saved saved(pass);
  const Tensor y = call.layers[number].layer->forward(std::move(x), saved);
  std::uint32_t token = 0;
  if (saved.training()) {
    token = ++link.saves;
    link.saved.emplace(token, ForwardPass{number, y.shape(), std::move(saved)});
  }
  call.layers[number].state.put(reply);
  reply.put(token);
  put_tensor(reply, y);
}

void backward(Link& link, Call& call, ByteReader& reader, ByteWriter& reply) {
  const std::size_t number = next_layer(call, reader);
  const auto token = reader.next<std::uint32_t>();
  const bool postpones = reader.next<std::uint8_t>() != 0;
  Tensor dy = next_tensor<float>(reader);
  use_in_turn(call, number, postpones ? Turn::kBackwardInput : Turn::kBackward);
  // Without a token: what the referee's own forward pass saved.
  const auto found = link.saved.find(token);
  if (found != link.saved.end() &&
      (found->second.layer != number || found->second.output != dy.shape()))
    throw InvalidArgument("backward does not fit its forward pass: another layer or shape");
  Saved* const saved = found != link.saved.end() ? &found->second.saved
                       : token == 0              ? call.saved
                                                 : nullptr;
  if (saved == nullptr || saved->postpones())
    throw std::runtime_error("backward without a forward pass");
  if (postpones) saved->postpone_weights();
  const Tensor dx = call.layers[number].layer->backward(std::move(dy), *saved);
  if (found != link.saved.end() && !postpones) link.saved.erase(found);
  call.layers[number].state.put(reply);
  put_tensor(reply, dx);
}

void weights(Link& link, Call& call, ByteReader& reader, ByteWriter& reply) {
  const std::size_t number = next_layer(call, reader);
  const auto found = link.saved.find(reader.next<std::uint32_t>());
  use_in_turn(call, number, Turn::kBackwardWeights);
  if (found == link.saved.end() || found->second.layer != number ||
      !found->second.saved.postpones())
    throw std::runtime_error("gradients of weights without a backward that postponed them");
  found->second.saved.run_postponed();
  link.saved.erase(found);
  call.layers[number].state.put(reply);
}

void turn(Call& call, ByteReader& reader) {
  const auto stage = reader.next<std::size_t>();
  const auto turn = static_cast<Turn>(reader.next<std::uint8_t>());
  const int micro_batch = reader.next<int>();
  if (stage >= call.stages.size()) throw std::runtime_error("no such stage");
  if (turn > Turn::kBackwardWeights) throw std::runtime_error("no such pass");
  Stage& its_own = *call.stages[stage].stage;
  check_turn_is_over(call);
  call.turning = stage;
  call.turn = turn;
  call.layers_left = call.stages[stage].end - call.stages[stage].first;
  if (its_own.on_turn) its_own.on_turn(turn, micro_batch);
  // The rank's stage takes it for the pass that now begins.
  if (turn == Turn::kForward) its_own.batch(micro_batch).x = {};
}

void step(Call& call, ByteReader& reader, ByteWriter& reply) {
  if (call.optimizer == nullptr) throw std::runtime_error("no optimizer");
  call.state.get(reader);
  call.optimizer->step();
  call.state.put(reply);
}

void file(Call& call, Kind kind, ByteReader& reader, ByteWriter& reply) {
  call.state.get(reader);
  const auto path = reader.next<std::string>();
  if (call.checkpoint == nullptr || path != call.path)
    throw std::runtime_error("a checkpoint in another file than the argument's");
  if (kind == Kind::kSave) save_checkpoint(path, *call.checkpoint);
  if (kind == Kind::kLoad) load_checkpoint(path, *call.checkpoint);
  call.state.put(reply);
}

SharedUse::Thread& thread_of(SharedUse& shared, ByteReader& reader) {
  const auto thread = reader.next<std::uint32_t>();
  if (shared.argument == nullptr || thread >= SharedValue::kMaxThreads)
    throw std::runtime_error("no such shared value, or thread");
  if (thread >= shared.threads.size()) shared.threads.resize(thread + 1);
  return shared.threads[thread];
}

void load_shared(SharedUse& shared, ByteReader& reader, ByteWriter& reply) {
  SharedUse::Thread& thread = thread_of(shared, reader);
  ++thread.loads;
  thread.last_loaded = shared.value;
  reply.put(shared.value);
}

void store_shared(SharedUse& shared, ByteReader& reader) {
  SharedUse::Thread& thread = thread_of(shared, reader);
  const std::int64_t before = shared.value;
  reader.get(shared.value);
  thread.count_store(before, thread.last_loaded, shared.value);
}

}  // namespace

void finish_shared(const Call& call) {
  const SharedUse& shared = call.shared;
  if (shared.argument != nullptr)
    shared.argument->replace(shared.value, {shared.threads.begin(), shared.threads.end()});
}

void check_turn_is_over(const Call& call) {
  if (call.layers_left > 0)
    throw std::runtime_error("a stage announced a pass that it did not make");
}

std::string serve_object(Link& link, Call& call, Kind kind, ByteReader& reader) {
  ByteWriter reply;
  switch (kind) {
    case Kind::kForward:
      forward(link, call, reader, reply);
      break;
    case Kind::kBackward:
      backward(link, call, reader, reply);
      break;
    case Kind::kWeights:
      weights(link, call, reader, reply);
      break;
    case Kind::kDropPass:
      link.saved.erase(reader.next<std::uint32_t>());
      break;
    case Kind::kStep:
      step(call, reader, reply);
      break;
    case Kind::kTurn:
      turn(call, reader);
      break;
    case Kind::kSave:
    case Kind::kLoad:
      file(call, kind, reader, reply);
      break;
    case Kind::kLoadShared:
      load_shared(call.shared, reader, reply);
      break;
    case Kind::kStoreShared:
      store_shared(call.shared, reader);
      break;
    default:
      throw std::runtime_error("no such request");
  }
  return std::move(reply.bytes);
}

}  // namespace rankbox::seal
