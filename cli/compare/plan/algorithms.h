// The comparable algorithms: the course's topologies and the native collectives.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/compare/plan/buffers.h"
#include "cli/compare/plan/plan.h"
#include "collectives/node_grid.h"
#include "comm/collective_kind.h"
#include "comm/comm.h"

namespace rankbox::cli {

/// A call's arguments besides its buffers.
struct CallSettings {
  ReduceOp op = ReduceOp::SUM;
  int segments = 1;  // of the rings that take them
  int root = 0;
  NodeGrid* grid = nullptr;  // the rank's, for algorithms that need one
};

/// Returns whether the result overwrites the input, as in the course's signatures: broadcast,
/// reduce and all_reduce.
bool is_in_place(CollectiveKind collective);

/// One way to do one collective.
struct Algorithm {
  CollectiveKind collective;
  std::string name;  // "native", "ring", …: the exercise's name without the collective's
  Whose whose = Whose::kReference;
  std::function<void(Comm& dist, Buffers& buffers, const CallSettings& settings)> call;
  std::string problem = {};  // why it cannot be called; empty if it can
  // An address in the learner's library; null for other algorithms.
  const void* library = nullptr;
  bool needs_grid = false;  // CallSettings::grid
};

/// Returns the native and reference algorithms of one collective, the native one first.
std::vector<Algorithm> algorithms_of(CollectiveKind collective);

/// Returns an exercise's function as an algorithm; none if the exercise is no collective.
/// `function` must have the type that the exercise's contract declares. If it is null, the
/// algorithm must not be called.
std::optional<Algorithm> algorithm_of(std::string_view exercise, void (*function)(), Whose whose);

/// Calls the algorithm once, with a grid of nodes if it needs one. The grid is not part of the
/// trace. Throws UnevenNodes if there is none.
void call_once(const Algorithm& algorithm, Comm& dist, Buffers& buffers, CallSettings settings);

/// Returns the collective that an exercise implements, and the algorithm's name: all_reduce and
/// "ring" for "allreduce_ring". None if the exercise cannot be compared.
std::optional<std::pair<CollectiveKind, std::string>> collective_and_name_of(
    std::string_view exercise);

/// Returns the comparable collectives, in the order of the course.
std::span<const CollectiveKind> compared_collectives();

bool is_reducing(CollectiveKind collective);

/// Returns whether one rank is the source or the destination.
bool has_root(CollectiveKind collective);

/// Returns nccl-tests' factor between a collective's bytes per second and those on each rank's
/// link.
double bus_factor(CollectiveKind collective, int world_size);

}  // namespace rankbox::cli
