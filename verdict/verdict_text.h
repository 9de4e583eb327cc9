// A verdict as text: one or two lines per check if it passes, at most twelve lines if not.
#pragma once

#include <string>

#include "verdict/verdict.h"

namespace rankbox {

/// @param colour with ANSI escapes, for terminals
std::string to_text(const Verdict& verdict, bool colour = false);

}  // namespace rankbox
