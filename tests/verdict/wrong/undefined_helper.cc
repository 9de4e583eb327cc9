// Judged as broadcast_naive: declared, called, and written nowhere.
#include "collectives/broadcast_naive.h"

namespace rankbox {

void helper(Comm& dist);

void broadcast_naive(Comm& dist, Tensor&, int) {  // HERE
  helper(dist);
}

}  // namespace rankbox
