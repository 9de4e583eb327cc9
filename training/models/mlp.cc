#include "training/models/mlp.h"

#include "training/layers/linear.h"
#include "training/layers/relu.h"

namespace rankbox {

template <class T>
ModelOf<T> mlp(const MlpOptions& options) {
  const Random random(options.seed);
  ModelOf<T> model;
  std::int64_t width = options.inputs;
  int number = 1;
  for (const std::int64_t next : options.hidden) {
    const std::string fc = "fc" + std::to_string(number);
    model.push_back(recipe<LinearOf<T>>(fc, width, next, random.stream(fc)));
    model.push_back(recipe<ReluOf<T>>("relu" + std::to_string(number)));
    width = next;
    ++number;
  }
  const std::string fc = "fc" + std::to_string(number);
  model.push_back(recipe<LinearOf<T>>(fc, width, options.classes, random.stream(fc)));
  return model;
}

template ModelOf<float> mlp(const MlpOptions&);
template ModelOf<double> mlp(const MlpOptions&);

}  // namespace rankbox
