// One call of a learner's function, made by a rank of the referee and carried out by the
// rank's process.
//
// A rank process gets values. Objects with behaviour (layers, stages, optimizers) stay with the
// referee; the process has stand-ins whose methods are requests. So what a pass computes, saves and
// costs is the referee's, whatever a learner's code does to its own memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/shared_value.h"
#include "comm/comm.h"
#include "judge/seal/state.h"
#include "parallel/stage.h"
#include "training/checkpoint.h"
#include "training/layer.h"
#include "training/optimizer.h"

namespace rankbox::seal {

/// A layer, with the state of its parameters and statistics alone.
struct SharedLayer {
  Layer* layer = nullptr;
  State state = {};
  std::vector<Shape> shapes = {};  // of its parameters, which may have no values at first
};

/// A stage, and which of a call's layers are its own.
struct StageLayers {
  Stage* stage = nullptr;
  std::size_t first = 0;
  std::size_t end = 0;
};

/// A value that threads of the rank process share, and what they did with it. Which thread makes an
/// access is what the process says.
struct SharedUse {
  struct Thread : SharedValue::Use {
    std::int64_t last_loaded = 0;
  };
  SharedValue* argument = nullptr;  // gets the result; null: the call has no such argument
  std::int64_t value = 0;
  std::vector<Thread> threads = {};  // in the order of their first access
};

struct Call {
  Comm* dist = nullptr;  // the first one; null: the function has no communicator
  State state = {};
  std::vector<SharedLayer> layers = {};
  std::vector<StageLayers> stages = {};
  Optimizer* optimizer = nullptr;
  Saved* saved = nullptr;  // the argument's, filled by a forward pass of the referee
  const TrainingState* checkpoint = nullptr;
  std::string path = {};  // of the checkpoint
  SharedUse shared = {};

  std::int64_t given = 0;  // bytes of its arguments

  /// Bytes that the process holds besides its arguments, if memory is counted: at the worst moment,
  /// and when it was last looked at.
  std::int64_t most_held = 0;
  std::int64_t held = 0;

  /// The pass that a stage has announced, and the layers that it has not gone through yet.
  std::size_t turning = 0;  // index in `stages`
  Turn turn = Turn::kForward;
  std::size_t layers_left = 0;
};

/// Has this rank's process call the function with these arguments, and serves its requests
/// until it returns. Throws what the function threw; Error if the process ended.
void carry_out(Call& call, const std::string& arguments);

}  // namespace rankbox::seal
