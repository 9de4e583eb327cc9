// The families of the chapter about mixed precision.
#pragma once

#include "judge/families.h"

namespace rankbox::family {

Family bf16_gradients();
Family master_weights();
Family loss_scaling();
Family dynamic_loss_scaling();
Family stochastic_rounding();

}  // namespace rankbox::family
