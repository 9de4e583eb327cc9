// Which call save_checkpoint and load_checkpoint belong to.
#pragma once

#include "judge/seal/state.h"

namespace rankbox::seal {

/// Sets the state of the call that this process carries out.
void set_call_state(const State* state);

}  // namespace rankbox::seal
