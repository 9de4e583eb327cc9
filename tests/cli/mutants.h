// Judges known-wrong programs: see cli/dev/mutants.h.
#pragma once

namespace rankbox {

/// Checks all mutants of the chapter's exercises, in a running test case. Every one is checked,
/// even if others fail.
void check_mutants_of_chapter(int chapter);

}  // namespace rankbox
