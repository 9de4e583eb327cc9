// The learner's progress: .rankbox/progress.json.
//
//   {"broadcast_ring": {"status": "pass", "hash": "8c736521a6fa32c1", "when": 1767225600,
//                       "hints": 1, "prediction": "7 7"}}
//
// The hash is that of the file as judged, so that later edits are detected; "when" is the time of
// the last check of this exercise alone, in seconds since 1970. Several processes may read and
// write at once. The file is replaced as a whole, never half written. A missing file counts as
// empty, and so does a spoilt one, which is kept under another name when the next entry is written.
// Write errors are a line on stderr: the verdict matters more than its record.
#pragma once

#include <string>

#include "judge/catalog.h"
#include "judge/verdict.h"

namespace rankbox::cli {

/// Returns "pass", "fail", "not_implemented" or "error" as last judged; "changed" if the file was
/// edited since; "not_started" if it was never judged.
std::string progress_of(const Exercise& exercise);

/// Returns whether a program of the learner's, and not the stub, was judged.
bool was_judged(const Exercise& exercise);

/// Records a verdict on the learner's file.
void remember(const Exercise& exercise, const Verdict& verdict);

/// Records that the learner works on this exercise now.
void remember_as_latest(const Exercise& exercise);

/// Returns the exercise that was remembered as the latest; null if none was.
const Exercise* latest_exercise();

/// Returns how many hints the learner has asked for.
int hints_seen(const Exercise& exercise);
void remember_hints(const Exercise& exercise, int seen);

/// Returns the learner's prediction before the first run of a program, in the form of
/// prediction.h; empty: not asked yet.
std::string prediction_of(const Exercise& exercise);
void remember_prediction(const Exercise& exercise, const std::string& prediction);

/// Removes the entry of the exercise.
void forget(const Exercise& exercise);

}  // namespace rankbox::cli
