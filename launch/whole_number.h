// Numbers from the environment.
#pragma once

#include <optional>
#include <string_view>

namespace rankbox::launcher {

/// The number that all of `text` is, if it is one from `least` to `most`.
std::optional<int> whole_number(std::string_view text, int least, int most);

}  // namespace rankbox::launcher
