// What a difference in cost probably means.
#pragma once

#include <string>

#include "comm/run_options.h"
#include "verdict/case.h"

namespace rankbox {

/// "3.5 times the bytes: were whole tensors sent where chunks are enough?" Empty where nothing
/// better than the numbers themselves can be said.
std::string cost_hint(const Cost& expected, const Case& example, const RunReport& report);

}  // namespace rankbox
