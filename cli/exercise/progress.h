// What the learner has done so far: .rankbox/progress.json.
//
//   {"broadcast_ring": {"status": "pass", "hash": "8c736521a6fa32c1", "when": 1767225600,
//                       "hints": 1, "prediction": "7 7"}}
//
// The hash is that of the file as it was judged, so that later edits are detected; "when" is in
// seconds since 1970. Several processes may read and write at once. The file is replaced as a
// whole, never half written. A missing or corrupt file counts as empty. Errors in writing it are
// ignored: the verdict matters more than its record.
#pragma once

#include <string>

#include "verdict/catalog.h"
#include "verdict/verdict.h"

namespace rankbox::cli {

/// "pass", "fail", "not_implemented" or "error" as last judged; "changed" if the file was edited
/// since; "not_started" if it was never judged.
std::string progress_of(const Exercise& exercise);

/// Records a verdict on the learner's own file.
void remember(const Exercise& exercise, const Verdict& verdict);

/// The exercise that was judged last; null if none ever was.
const Exercise* latest_exercise();

/// How many hints the learner has asked for.
int hints_seen(const Exercise& exercise);
void remember_hints(const Exercise& exercise, int seen);

/// What the learner expected before the first run, as prediction.h has it; empty: not asked yet.
std::string prediction_of(const Exercise& exercise);
void remember_prediction(const Exercise& exercise, const std::string& prediction);

/// Removes the entry of the exercise.
void forget(const Exercise& exercise);

}  // namespace rankbox::cli
