// What the learner has done so far: .rankbox/progress.json.
//
//   {"broadcast_ring": {"status": "pass", "hash": "8c736521a6fa32c1", "when": 1767225600,
//                       "hints": 1, "prediction": "7 7"}}
//
// The hash is that of the file as it was judged, so that one edited since is known for it; "when" is
// in seconds since 1970. Several processes may read and write at once. The file is replaced as a
// whole, never half written. One that is missing or was spoilt counts as empty, and one that cannot
// be written is no reason to fail: the verdict counts, not the memory of it.
#pragma once

#include <string>

#include "verdict/catalog.h"
#include "verdict/verdict.h"

namespace rankbox::cli {

/// "pass", "fail", "not_implemented" or "error" as last judged; "changed" if the file was edited
/// since; "not_started" if it was never judged.
std::string progress_of(const Exercise& exercise);

/// Remembers a verdict on the learner's own file.
void remember(const Exercise& exercise, const Verdict& verdict);

/// The exercise that was judged last; null if none ever was.
const Exercise* latest_exercise();

/// How many hints the learner has asked for.
int hints_seen(const Exercise& exercise);
void remember_hints(const Exercise& exercise, int seen);

/// What the learner expected before the first run, as prediction.h has it; empty: not asked yet.
std::string prediction_of(const Exercise& exercise);
void remember_prediction(const Exercise& exercise, const std::string& prediction);

/// As if the exercise had never been touched.
void forget(const Exercise& exercise);

}  // namespace rankbox::cli
