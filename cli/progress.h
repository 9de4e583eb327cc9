// What the learner has done so far: .rankbox/progress.json.
//
//   {"broadcast_ring": {"status": "pass", "hash": "8c736521a6fa32c1"}}
//
// The hash is that of the file as it was judged, so that one edited since is known for it.
#pragma once

#include <string>

#include "verdict/catalog.h"
#include "verdict/verdict.h"

namespace rankbox::cli {

/// "pass", "fail", "not_implemented" or "error" as last judged; "changed" if the file was edited
/// since; "not_started" if it was never judged.
std::string progress_of(const Exercise& exercise);

/// Remembers a verdict on the learner's own file. Several processes may do so at once. A file that
/// cannot be written is no reason to fail: the verdict counts, not the memory of it.
void remember(const Exercise& exercise, const Verdict& verdict);

}  // namespace rankbox::cli
