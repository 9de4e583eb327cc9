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

#include "cli/compare/plan/plan.h"
#include "comm/collective_kind.h"
#include "comm/comm.h"

namespace rankbox::cli {

/// The two tensors of a collective, sized for one rank of one row.
struct Buffers {
  Tensor input;   // in place for broadcast, reduce, all_reduce
  Tensor output;  // of the other collectives
};

/// A call's arguments besides its buffers.
struct CallSettings {
  ReduceOp op = ReduceOp::SUM;
  int segments = 1;  // of the rings that take them
  int root = 0;
};

/// One way to do one collective.
struct Algorithm {
  CollectiveKind collective;
  std::string name;  // "native", "ring", …: the exercise's name without the collective's
  Whose whose = Whose::kReference;
  std::function<void(Comm& dist, Buffers& buffers, const CallSettings& settings)> call;
  std::string problem = {};  // why it cannot be called; empty if it can
  // An address in the learner's library; null for other algorithms.
  const void* library = nullptr;
};

/// Returns the native and reference algorithms of one collective, the native one first.
std::vector<Algorithm> algorithms_of(CollectiveKind collective);

/// Returns an exercise's function as an algorithm; none if the exercise is no collective.
/// `function` must have the type that the exercise's contract declares. If it is null, the
/// algorithm must not be called.
std::optional<Algorithm> algorithm_of(std::string_view exercise, void (*function)(), Whose whose);

/// Returns the collective that an exercise implements, and the algorithm's name: all_reduce and
/// "ring" for "allreduce_ring". None if the exercise cannot be compared.
std::optional<std::pair<CollectiveKind, std::string>> collective_and_name_of(
    std::string_view exercise);

/// Returns the comparable collectives, in the order of the course.
std::span<const CollectiveKind> compared_collectives();

bool is_reducing(CollectiveKind collective);

/// Returns whether one rank is the source or the destination.
bool has_root(CollectiveKind collective);

/// Returns whether the result overwrites the input, as in the course's signatures: broadcast,
/// reduce and all_reduce.
bool is_in_place(CollectiveKind collective);

/// Returns the elements of one row, counted as nccl-tests do: those of a rank's tensor. If the
/// tensor has a piece per rank, those of all pieces, rounded down to a multiple of world_size. At
/// least one element per rank; 0 for a barrier.
std::int64_t elements_of(CollectiveKind collective, int world_size, std::int64_t bytes);

/// Returns a rank's buffers for timing, filled with one value.
Buffers make_buffers(CollectiveKind collective, int rank, int world_size, std::int64_t elements,
                     float value, int root = 0);

/// Fills the input with numbers that differ between ranks and elements. Every reduction of them is
/// exact, in any order and for up to 65,536 ranks. Needs little memory on the host.
void fill_input(CollectiveKind collective, Buffers& buffers, int rank, ReduceOp op);

/// Returns the number of elements of a rank's result that differ from the collective of all ranks'
/// fill_input(). Any bit counts, except that an average may be rounded on every rank. NaN differs.
std::int64_t count_wrong(CollectiveKind collective, const Buffers& buffers, int rank,
                         int world_size, std::int64_t elements, ReduceOp op, int root = 0);

/// Returns nccl-tests' factor between a collective's bytes per second and those on each rank's
/// link.
double bus_factor(CollectiveKind collective, int world_size);

}  // namespace rankbox::cli
