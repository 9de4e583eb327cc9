// One case of an exercise: its arguments, and the world it runs in.
//
// A case is written as "world_size=3,root=1,count=7,op=SUM", which is what --replay takes. An
// exercise uses some of the fields; the others stay unset and are not written. Names and limits of
// the fields are one table, in case.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/reduce_op.h"

namespace rankbox {

struct Case {
  int world_size = 1;               // not written for exercises that run threads
  std::optional<int> nodes = {};    // RunOptions::nodes
  std::optional<int> mesh = {};     // ranks along its first dimension, of a layout
  std::optional<int> from = {};     // the layout's placements: 3 · first + second
  std::optional<int> to_mesh = {};  // the same of the new layout
  std::optional<int> to = {};
  std::optional<int> root = {};            // src or dst
  std::optional<int> segments = {};        // of a ring in segments; or (micro-)batches of a rank
  std::optional<std::int64_t> count = {};  // elements of the tensor, or of one rank's part
  std::optional<int> steps = {};           // of an optimizer that trains a small model; 0: none
  std::optional<std::int64_t> bucket_bytes = {};  // of gradients; written "bucket"
  std::optional<int> chunks = {};                 // stages of one pipeline on each rank
  std::optional<int> replicas = {};               // pipelines of equal length; copies of a model
  std::optional<int> layers = {};                 // of a model
  std::optional<ReduceOp> op = {};
  std::optional<int> threads = {};           // of the race, which has no ranks
  std::optional<std::int64_t> repeats = {};  // updates of each thread

  bool operator==(const Case&) const = default;
};

/// The largest world in which all elements are distinct (inputs.h).
inline constexpr int kMostExactRanks = 24;

/// Returns whether the case is small enough for inputs in which all elements are distinct and sums
/// are exact. Of larger cases, those of Subject::far_cases are judged by other inputs, and pictures
/// alone have others.
bool is_exact(const Case& example);

/// Returns "world_size=3,root=1,count=7,op=SUM".
std::string to_string(const Case& example);

/// The inverse of to_string. `defaults` supplies missing fields and determines which fields the
/// exercise has. Throws InvalidArgument with the field and its limits, and for fields that
/// contradict each other, such as a root that is no rank.
Case parse_case(std::string_view text, const Case& defaults);

/// Returns the one of `cases` that to_string() writes as `text`, even if it is larger than
/// parse_case() allows; otherwise parse_case(text, cases.front()). Throws as parse_case() does.
Case replayed_case(std::string_view text, const std::vector<Case>& cases);

}  // namespace rankbox
