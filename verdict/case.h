// One case of an exercise: the arguments it is called with, and the world it runs in.
//
// Written as "world_size=3,root=1,count=7,op=SUM", which is what --replay takes. An exercise uses
// some of the fields; the others stay unset and are not written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "comm/reduce_op.h"

namespace rankbox {

struct Case {
  int world_size = 1;                      // not written where there are threads instead
  std::optional<int> nodes = {};           // RunOptions::nodes
  std::optional<int> root = {};            // src or dst
  std::optional<int> segments = {};        // of a pipeline; (micro-)batches of a rank
  std::optional<std::int64_t> count = {};  // elements: of the tensor, or of one rank's part
  std::optional<ReduceOp> op = {};
  std::optional<int> steps = {};  // of an optimizer, in training a small model; 0: none
  std::optional<std::int64_t> bucket_bytes = {};  // of gradients; written "bucket"
  std::optional<int> chunks = {};                 // stages of one pipeline that each rank has
  std::optional<int> replicas = {};               // pipelines, all of the same length
  std::optional<int> threads = {};                // of the race, which has no ranks
  std::optional<std::int64_t> repeats = {};       // updates of each thread

  bool operator==(const Case&) const = default;
};

/// Whether it is small enough for inputs that tell all elements apart and sums without rounding:
/// only then are values judged.
bool is_exact(const Case& example);

/// Throws InvalidArgument for fields that do not go together: replicas that do not divide the ranks, or
/// chunks with micro-batches that are no multiple of them.
void check_together(const Case& example);

/// "world_size=3,root=1,count=7,op=SUM"
std::string to_string(const Case& example);

/// The other way round. Fields that are missing are taken from `defaults`, which also says which
/// fields the exercise has. Throws InvalidArgument that names the field and what it may be.
Case parse_case(std::string_view text, const Case& defaults);

}  // namespace rankbox
