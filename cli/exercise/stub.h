// The stubs: exercises as they are handed out.
//
// There is no second copy of them. The registry has the id under which git keeps each text.
#pragma once

#include <string>

#include "exercises/registry.h"

namespace rankbox::cli {

/// Whether the learner's file is still as handed out.
bool is_stub(const Exercise& exercise);

/// The text as handed out: the file's, if it is unchanged, else git's.
/// Throws Error with the fix if git or the object is missing.
std::string stub_text(const Exercise& exercise);

}  // namespace rankbox::cli
