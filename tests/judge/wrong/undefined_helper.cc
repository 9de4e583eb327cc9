// Judged as broadcast_naive: a helper that is declared and called, but not defined.
#include "collectives/broadcast_naive.h"

namespace rankbox {

void helper(Comm& dist);

void broadcast_naive(Comm& dist, Tensor&, int) {  // HERE
  helper(dist);
}

}  // namespace rankbox
