#include "parallel/pipeline_data_parallel.h"

namespace rankbox {

void pipeline_data_parallel(Comm& dist, Stage& stage, int stages) {
  // TODO: which ranks form a pipeline, and which hold the same stage? What must each do with the
  // others of its group?
  throw NotImplemented("pipeline_data_parallel");
}

}  // namespace rankbox
