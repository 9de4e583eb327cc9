// Tries to spoil the judge's report.
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  std::string garbage(1 << 20, 'x');
  for (int i = 0; i < 32; ++i) (void)!write(attack::kReport, garbage.data(), garbage.size());
}

}  // namespace rankbox
