// Judged as broadcast_naive: allocates more memory than there is.
#include <vector>

#include "collectives/broadcast_naive.h"

namespace rankbox {

void broadcast_naive(Comm&, Tensor& tensor, int) {
  std::vector<Tensor> copies;
  while (true) {
    copies.push_back(full(1 << 20, 1.0f));  // HERE
    copies.push_back(clone(tensor));
  }
}

}  // namespace rankbox
