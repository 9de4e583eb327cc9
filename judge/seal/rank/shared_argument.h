// SharedValue in a rank process: the one that is an argument lies with the referee.
#pragma once

#include "collectives/shared_value.h"

namespace rankbox::seal {

/// Says which value it is, until the next call; null: none.
void set_shared_argument(const SharedValue* value);

}  // namespace rankbox::seal
