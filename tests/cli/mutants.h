// Known-wrong programs before the judge: see cli/dev/mutants.h.
#pragma once

namespace rankbox {

/// Checks all mutants of the chapter's exercises, in a running test case. Every one is checked,
/// whatever becomes of the others.
void check_mutants_of_chapter(int chapter);

}  // namespace rankbox
