// Broadcasts the largest tensor and fills the others with its first elements. It sends zeros in
// place of the others, and discards them.
#include "parallel/ddp_init_broadcast.h"

namespace rankbox {

void ddp_init_broadcast(Comm& dist, const std::vector<Parameter*>& parameters,
                        const std::vector<NamedTensor*>& statistics) {
  std::vector<Tensor*> all;
  for (Parameter* parameter : parameters) all.push_back(&parameter->value);
  for (NamedTensor* statistic : statistics) all.push_back(&statistic->value);
  Tensor* largest = all.front();
  for (Tensor* tensor : all) {
    if (tensor->size() > largest->size()) largest = tensor;
  }
  for (Tensor* tensor : all) {
    Tensor unused = zeros(tensor->size());
    dist.broadcast(tensor == largest ? *tensor : unused, 0);
  }
  for (Tensor* tensor : all) {
    for (std::int64_t i = 0; i < tensor->size(); ++i) tensor->data()[i] = largest->data()[i];
  }
}

}  // namespace rankbox
