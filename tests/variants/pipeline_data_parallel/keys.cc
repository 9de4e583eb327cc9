// Ranks of a column are numbered by their replica, those of a row by their stage.
#include <vector>

#include "parallel/pipeline_1f1b.h"
#include "parallel/pipeline_data_parallel.h"

namespace rankbox {

void pipeline_data_parallel(Comm& dist, Stage& stage, int stages) {
  const int replica = dist.rank() / stages;
  const int place = dist.rank() - replica * stages;
  Comm column = dist.split(place, replica);
  {
    Comm row = dist.split(replica, place);
    pipeline_1f1b(row, stage);
  }
  const std::vector<Parameter*> all = stage.parameters();
  for (auto next = all.rbegin(); next != all.rend(); ++next)
    column.wait(column.all_reduce_async(gradient_of(**next), ReduceOp::AVG));
}

}  // namespace rankbox
