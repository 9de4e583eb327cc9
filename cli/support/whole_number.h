// A validator for numeric options.
#pragma once

#include <cstdint>

namespace CLI {  // NOLINT(readability-identifier-naming)
class Validator;
}

namespace rankbox::cli {

/// Rejects anything else with "'x' should be a whole number from 1 to 100".
CLI::Validator whole_number(std::int64_t least, std::int64_t most);

}  // namespace rankbox::cli
