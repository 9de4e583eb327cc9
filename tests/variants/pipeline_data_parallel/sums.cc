// The column first; sums are divided by the number of replicas.
#include "parallel/pipeline_1f1b.h"
#include "parallel/pipeline_data_parallel.h"

namespace rankbox {

void pipeline_data_parallel(Comm& dist, Stage& stage, int stages) {
  const int position = dist.rank() % stages;
  const int replica = dist.rank() / stages;
  Comm same_stage = dist.split(position, replica);
  Comm same_replica = dist.split(replica, position);
  pipeline_1f1b(same_replica, stage);
  for (Parameter* parameter : stage.parameters()) {
    same_stage.all_reduce(parameter->gradient, ReduceOp::SUM);
    parameter->gradient /= static_cast<float>(same_stage.world_size());
  }
}

}  // namespace rankbox
