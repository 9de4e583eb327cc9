// Tries to keep the compiler busy with templates.
#include "collectives/broadcast_naive.h"

namespace {
template <int N>
struct Deep {
  static constexpr int value = Deep<N + 1>::value;
};
constexpr int kEndless = Deep<0>::value;
}  // namespace

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {}

}  // namespace rankbox
