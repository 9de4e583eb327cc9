// A loop over many items, on all cores.
//
// A virtual machine may take some 15 µs for the first touch of a page. That of their states is
// most of the start of a million ranks, so all cores share it (docs/limits.md).
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
