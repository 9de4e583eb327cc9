#include "parallel/pipeline_data_parallel.h"

namespace rankbox {

void pipeline_data_parallel(Comm& dist, Stage& stage, int stages) {
  // TODO: which ranks are a pipeline, and which hold the same stage? What does each of them have to do
  // with the others of its kind?
  throw NotImplemented("pipeline_data_parallel");
}

}  // namespace rankbox
