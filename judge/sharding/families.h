// The families of the chapter about sharded training.
#pragma once

#include "judge/families.h"

namespace rankbox::family {

Family zero1();
Family zero2();
Family zero3();
Family clip_global_norm();

}  // namespace rankbox::family
