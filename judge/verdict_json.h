// A verdict as one JSON object, and back.
//
//   {"name": "broadcast_ring", "status": "fail",
//    "checks": [{"name": "values", "status": "fail", "expected": "8", "actual": "nan", "detail":
//    …}], "warnings": [], "failure": {"kind": "values", "rank": 2, "peer": 1, "op": "recv",
//                "file": …, "line": 12, "message": …,
//                "replay": "./rankbox check broadcast_ring --replay …",
//                "hint": {"id": "never-written", "text": "it was never written"}}}
//
// All fields are always present, but for `failure`, which is there if something failed, and `hint`,
// which is there if the likely cause is known. A text of more than kMostTextBytes keeps its
// beginning and its end.
//
// The reader trusts nothing: a learner's process can write what it likes in place of a verdict.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "judge/verdict.h"

namespace rankbox {

inline constexpr std::size_t kMostTextBytes = 8192;
inline constexpr std::size_t kMostVerdictBytes = std::size_t{1} << 20;

/// @param indent spaces per level; -1: all in one line
std::string to_json(const Verdict& verdict, int indent = -1);

/// Throws std::runtime_error if the text is not what to_json writes: longer than kMostVerdictBytes,
/// a field that is absent or has another type or an unknown word, a status that the checks or the
/// failure contradict.
Verdict verdict_from_json(std::string_view text);

}  // namespace rankbox
