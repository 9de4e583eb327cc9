#include "parallel/pipeline_data_parallel.h"

#include "parallel/ddp_average_gradients.h"
#include "parallel/pipeline_1f1b.h"

namespace rankbox {

void pipeline_data_parallel(Comm& dist, Stage& stage, int stages) {
  Comm pipeline = dist.split(dist.rank() / stages, dist.rank());
  Comm column = dist.split(dist.rank() % stages, dist.rank());
  pipeline_1f1b(pipeline, stage);
  ddp_average_gradients(column, stage.parameters());
}

}  // namespace rankbox
