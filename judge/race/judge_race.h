// The judge of the exercise `race`, from SharedValue's record.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "collectives/shared_value.h"

namespace rankbox {

/// Returns one line on the error in the run `race(value, threads, repeats)` of a value that held
/// `before`. Returns nothing if every thread made its updates and none was lost.
///
/// REQUIRES: the run is over. One correct run proves nothing about the next: judge several.
std::optional<std::string> what_is_wrong(const SharedValue& value, std::int64_t before, int threads,
                                         std::int64_t repeats);

}  // namespace rankbox
