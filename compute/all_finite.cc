#include "compute/all_finite.h"

#include <type_traits>

#include "comm/dtype.h"
#include "comm/without_data.h"
#include "compute/first_of.h"

namespace rankbox {
namespace {

template <class T>
bool elements_finite(const T* x, std::int64_t n) {
  using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const std::int64_t first = first_of(n, [=] RANKBOX_PORTABLE(std::int64_t i) {
    const Wide value = x[i];
    return !(value - value == 0);  // ∞ - ∞ is NaN
  });
  return first == n;
}

}  // namespace

bool all_finite(Slice slice) {
  require_data(slice.data(), "all_finite", Place());
  bool finite = true;
  with_type(slice.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_integral_v<T>)
      finite = elements_finite(static_cast<const T*>(slice.data()), slice.size());
  });
  return finite;
}

}  // namespace rankbox
