// The type in which integers are added and multiplied, so that they wrap around on overflow.
#pragma once

#include <type_traits>

namespace rankbox {

/// The unsigned type of an integer's size, since signed overflow is undefined; T itself for others.
template <class T>
using Wrapping = typename std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>,
                                             std::make_unsigned<T>, std::type_identity<T>>::type;

}  // namespace rankbox
