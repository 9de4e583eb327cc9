#include "parallel/ulysses.h"

namespace rankbox {

void ulysses(Comm& dist, const Tensor& q, const Tensor& k, const Tensor& v, Tensor& y) {
  // TODO: what must be chunk d of the input of all_to_all, and in which order does its output lie?
  // Then attention over all tokens, for this rank's heads, and back.
  throw NotImplemented("ulysses");
}

}  // namespace rankbox
