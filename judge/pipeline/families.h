// The families of the chapter about pipeline parallelism.
#pragma once

#include "judge/families.h"

namespace rankbox::family {

Family pipeline();
Family interleaved_pipeline();
Family pipeline_data_parallel();

}  // namespace rankbox::family
