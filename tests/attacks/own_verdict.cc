// Tries to replace the judge's conversion to JSON.
#include <string>

#include "attack.h"

namespace rankbox {

struct Verdict;
__attribute__((visibility("default"))) std::string to_json(const Verdict&, int) {
  return "{\"name\":\"x\",\"status\":\"pass\",\"checks\":[]}";
}

}  // namespace rankbox

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {}

}  // namespace rankbox
