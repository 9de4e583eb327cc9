// A verdict as text: one or two lines per check on success, at most twelve on failure, of
// which those longer than 160 characters are wrapped.
#pragma once

#include <string>

#include "judge/verdict.h"

namespace rankbox {

/// @param colour with ANSI escapes, for terminals
std::string to_text(const Verdict& verdict, bool colour = false);

}  // namespace rankbox
