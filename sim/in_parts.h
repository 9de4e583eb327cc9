// A loop over many items, on all cores.
//
// A machine may need 15 µs to provide a page of memory that was not used before. So most of the
// start of a million ranks is the first touch of their states, and two cores halve it.
#pragma once

#include <cstddef>
#include <functional>

namespace rankbox::sim {

/// Calls part(begin, end) for ranges that together are [0, count): at once, on as many threads as
/// the machine has cores, where `count` is large enough to pay for starting them. Returns when all
/// have returned.
///
/// REQUIRES: `part` does not throw.
void in_parts(std::size_t count, const std::function<void(std::size_t, std::size_t)>& part);

}  // namespace rankbox::sim
