// Loss and accuracy of a model, over all ranks.
#pragma once

#include <cstdint>

namespace rankbox {

struct Metrics {
  double loss = 0;           // mean over the samples
  double accuracy = 0;       // correct samples divided by samples
  std::int64_t samples = 0;  // each of the dataset's counted once
};

}  // namespace rankbox
