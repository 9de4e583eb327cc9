// save_checkpoint and load_checkpoint in a rank process, which has no files: the referee has them.
//
// The referee saves and loads the state that is the call's argument. A program may pass another
// state, whose values then take their place during the request.
#include "judge/seal/rank/checkpoint.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include "comm/errors.h"
#include "judge/seal/rank/arguments.h"
#include "judge/seal/rank/stand_ins.h"
#include "training/checkpoint.h"

namespace rankbox {

namespace {

const seal::Invocation* current = nullptr;

/// What a state refers to.
struct Values {
  std::vector<std::int64_t> numbers;
  std::vector<std::vector<char>> tensors;
};

Values values_of(const TrainingState& state) {
  Values values;
  for (const auto& [name, number] : state.numbers) values.numbers.push_back(*number);
  for (const auto& [name, tensor] : state.tensors) {
    const char* const data = static_cast<const char*>(tensor.data());
    values.tensors.emplace_back(data, data + tensor.bytes());
  }
  return values;
}

void set_values(const TrainingState& state, const Values& values) {
  for (std::size_t k = 0; k < values.numbers.size(); ++k)
    *state.numbers[k].second = values.numbers[k];
  for (std::size_t k = 0; k < values.tensors.size(); ++k) {
    if (!values.tensors[k].empty())
      std::memcpy(state.tensors[k].second.data(), values.tensors[k].data(),
                  values.tensors[k].size());
  }
}

/// Returns the call's argument. Throws InvalidArgument, as the reader of files does, if this state
/// has other names or sizes; also if the call has no such argument.
const TrainingState& argument_like(const TrainingState& state) {
  const TrainingState* const argument = current->training;
  bool alike = argument != nullptr && state.model == argument->model &&
               state.numbers.size() == argument->numbers.size() &&
               state.tensors.size() == argument->tensors.size();
  for (std::size_t k = 0; alike && k < state.numbers.size(); ++k)
    alike = state.numbers[k].first == argument->numbers[k].first;
  for (std::size_t k = 0; alike && k < state.tensors.size(); ++k) {
    const auto& [name, tensor] = state.tensors[k];
    const auto& [other_name, other] = argument->tensors[k];
    alike = name == other_name && tensor.dtype() == other.dtype() && tensor.size() == other.size();
  }
  if (!alike)
    throw InvalidArgument("a checkpoint of another model, or with other numbers or tensors");
  return *argument;
}

void request_file(seal::Kind kind, const std::string& path) {
  seal::ObjectRequest request(current->state);
  current->state.put(request.arguments);
  request.arguments.put(path);
  request.make(kind);
}

}  // namespace

void seal::set_call(const Invocation* call) { current = call; }

void save_checkpoint(const std::string& path, const TrainingState& state) {
  const TrainingState& argument = argument_like(state);
  const Values before = values_of(argument);
  set_values(argument, values_of(state));
  request_file(seal::Kind::kSave, path);
  set_values(argument, before);
}

void load_checkpoint(const std::string& path, const TrainingState& state) {
  const TrainingState& argument = argument_like(state);
  const Values before = values_of(argument);
  request_file(seal::Kind::kLoad, path);
  const Values loaded = values_of(argument);
  set_values(argument, before);
  set_values(state, loaded);
}

}  // namespace rankbox
