// The judge of the exercise `race`, from the record that SharedValue keeps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "collectives/shared_value.h"

namespace rankbox {

/// One line that says what is wrong with the run `race(value, threads, repeats)` of a value that
/// held `before`, or nothing if every thread made its updates and none was lost.
///
/// REQUIRES: the run is over. One good run proves nothing about the next: judge several.
std::optional<std::string> what_is_wrong(const SharedValue& value, std::int64_t before, int threads,
                                         std::int64_t repeats);

}  // namespace rankbox
