// A verdict for people: a line or two per check when it passes, at most twelve lines when it does
// not.
#pragma once

#include <string>

#include "verdict/verdict.h"

namespace rankbox {

/// @param colour with ANSI escapes, for terminals
std::string to_text(const Verdict& verdict, bool colour = false);

}  // namespace rankbox
