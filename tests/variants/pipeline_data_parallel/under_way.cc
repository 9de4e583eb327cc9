// All of the stage's gradients under way at once; keys are left to the ranks.
#include "parallel/pipeline_1f1b.h"
#include "parallel/pipeline_data_parallel.h"

namespace rankbox {

void pipeline_data_parallel(Comm& dist, Stage& stage, int stages) {
  Comm row = dist.split(dist.rank() / stages);
  pipeline_1f1b(row, stage);
  Comm column = dist.split(dist.rank() % stages);
  std::vector<Request> requests;
  for (Parameter* parameter : stage.parameters())
    requests.push_back(column.all_reduce_async(gradient_of(*parameter), ReduceOp::AVG));
  column.wait_all(requests);
}

}  // namespace rankbox
