// The families of the chapter about tensor parallelism.
#pragma once

#include "judge/families.h"

namespace rankbox::family {

Family conjugate_f();
Family conjugate_g();
Family column_linear();
Family row_linear();
Family parallel_mlp();
Family parallel_attention();
Family vocab_parallel_cross_entropy();
Family sequence_parallel();

}  // namespace rankbox::family
