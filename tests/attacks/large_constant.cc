// Tries to use all memory of the compiler.
#include <utility>

#include "collectives/broadcast_naive.h"

namespace {
using Large = std::make_index_sequence<(std::size_t{1} << 27)>;
constexpr std::size_t kLarge = Large::size();
}  // namespace

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {}

}  // namespace rankbox
