// The algorithms that can be compared: every topology of the course and the native collectives.
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
  int segments = 1;  // of the pipelined ring
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

/// The native and reference algorithms of one collective, the native one first.
std::vector<Algorithm> algorithms_of(CollectiveKind collective);

/// An exercise's function as an algorithm; none for an exercise that is no collective. `function`
/// must have the type that the exercise's contract declares; null: the algorithm must not be
/// called.
std::optional<Algorithm> algorithm_of(std::string_view exercise, void (*function)(), Whose whose);

/// The collective that an exercise implements, and the algorithm's name: all_reduce and "ring" for
/// "allreduce_ring". None for an exercise that cannot be compared.
std::optional<std::pair<CollectiveKind, std::string>> collective_and_name_of(
    std::string_view exercise);

/// The collectives that can be compared, in the order of the course.
std::span<const CollectiveKind> compared_collectives();

bool is_reducing(CollectiveKind collective);

/// Whether one rank is special: the source, or the destination.
bool has_root(CollectiveKind collective);

/// Whether the result overwrites the input, as in the signatures of the course: broadcast,
/// reduce and all_reduce.
bool is_in_place(CollectiveKind collective);

/// Elements of one row, as nccl-tests count its size: of a rank's tensor; of all pieces together
/// where a tensor has one for each rank, rounded down to a multiple of world_size. At least one
/// element a rank; 0 for a barrier.
std::int64_t elements_of(CollectiveKind collective, int world_size, std::int64_t bytes);

/// The buffers of a rank for timing: one value everywhere.
Buffers make_buffers(CollectiveKind collective, int rank, int world_size, std::int64_t elements,
                     float value, int root = 0);

/// Fills the input with numbers that differ between ranks and elements, and with which every
/// reduction is exact, in any order and for up to 65,536 ranks. Needs little memory on the host.
void fill_input(CollectiveKind collective, Buffers& buffers, int rank, ReduceOp op);

/// Elements of a rank's result that differ from what the collective of all ranks' fill_input() must
/// give. Any bit counts, except that an average may be rounded on every rank. NaN differs.
std::int64_t count_wrong(CollectiveKind collective, const Buffers& buffers, int rank,
                         int world_size, std::int64_t elements, ReduceOp op, int root = 0);

/// nccl-tests' factor between a collective's bytes per second and those that cross each rank's
/// link.
double bus_factor(CollectiveKind collective, int world_size);

}  // namespace rankbox::cli
