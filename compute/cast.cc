#include "compute/cast.h"

#include <fmt/format.h>

#include "comm/dtype.h"
#include "comm/errors.h"
#include "comm/without_data.h"
#include "compute/for_each.h"

namespace rankbox {
namespace {

template <class From, class To>
void cast_elements(const From* from, To* into, std::int64_t n) {
  for_each(n, [=] RANKBOX_PORTABLE(std::int64_t i) { into[i] = static_cast<To>(from[i]); });
}

/// Calls fn with a value of the floating-point type of dtype.
template <class Fn>
void with_float_type(DType dtype, Fn fn) {
  with_type(dtype, [&](auto zero) {
    if constexpr (std::is_integral_v<decltype(zero)>) {
      throw InvalidArgument(
          fmt::format("cast: takes floating-point types, and not {}", name_of(dtype)));
    } else {
      fn(zero);
    }
  });
}

}  // namespace

void cast(Slice from, Slice into) {
  if (from.size() != into.size() || into.read_only()) {
    throw InvalidArgument(fmt::format("cast: {} elements into {}{}", from.size(), into.size(),
                                      into.read_only() ? ", which are read-only" : ""));
  }
  require_data(from.data(), "cast", Place());
  require_data(into.data(), "cast", Place());
  with_float_type(from.dtype(), [&](auto source) {
    with_float_type(into.dtype(), [&](auto target) {
      cast_elements(static_cast<const decltype(source)*>(from.data()),
                    static_cast<decltype(target)*>(into.data()), from.size());
    });
  });
}

}  // namespace rankbox
