#include "cli/compare/plan/algorithms.h"

#include <algorithm>

#include "cli/compare/plan/signatures.h"
#include "comm/unrecorded.h"
#include "exercises/registry.h"
#include "solutions/table.h"

namespace rankbox::cli {
namespace {

using enum CollectiveKind;

constexpr CollectiveKind kCollectives[] = {kBroadcast, kReduce,   kAllReduce,     kGather, kScatter,
                                           kAllGather, kAllToAll, kReduceScatter, kBarrier};

/// Returns "ring" for allreduce_ring; "scatter_gather" for reduce_scatter_gather, which is a
/// reduce.
std::string name_without_collective(const std::string& exercise, std::string_view prefix) {
  return exercise.substr(exercise.starts_with(prefix) ? prefix.size() + 1 : 0);
}

}  // namespace

std::vector<Algorithm> algorithms_of(CollectiveKind collective) {
  std::vector<Algorithm> found = {
      {collective, "native", Whose::kNative, native_call(collective), {}, nullptr}};
  for (const Exercise& exercise : exercises()) {
    const auto is = collective_and_name_of(exercise.name);
    if (!is || is->first != collective) continue;
    if (solution_of(exercise.name) == nullptr) continue;  // added after this program was built
    found.push_back(*algorithm_of(exercise.name, solution_of(exercise.name), Whose::kReference));
  }
  return found;
}

std::optional<Algorithm> algorithm_of(std::string_view exercise, void (*function)(), Whose whose) {
  const auto is = collective_and_name_of(exercise);
  if (!is) return std::nullopt;
  const Signature& signature = *signature_of(find_exercise(exercise)->family);
  Algorithm algorithm{is->first, is->second, whose, signature.bind(function), {}, nullptr};
  algorithm.needs_grid = signature.needs_grid;
  return algorithm;
}

void call_once(const Algorithm& algorithm, Comm& dist, Buffers& buffers, CallSettings settings) {
  std::optional<NodeGrid> grid;
  if (algorithm.needs_grid) {
    const Unrecorded unrecorded(dist);
    grid = split_by_node(dist, Place{});
    settings.grid = &*grid;
  }
  algorithm.call(dist, buffers, settings);
}

std::optional<std::pair<CollectiveKind, std::string>> collective_and_name_of(
    std::string_view exercise) {
  const Exercise* entry = find_exercise(exercise);
  const Signature* signature = entry == nullptr ? nullptr : signature_of(entry->family);
  if (signature == nullptr) return std::nullopt;
  return std::pair{signature->collective, name_without_collective(entry->name, signature->prefix)};
}

std::span<const CollectiveKind> compared_collectives() { return kCollectives; }

bool is_reducing(CollectiveKind collective) {
  return collective == kReduce || collective == kAllReduce || collective == kReduceScatter;
}

bool has_root(CollectiveKind collective) {
  return collective == kBroadcast || collective == kReduce || collective == kGather ||
         collective == kScatter;
}

bool is_in_place(CollectiveKind collective) {
  return collective == kBroadcast || collective == kReduce || collective == kAllReduce;
}

double bus_factor(CollectiveKind collective, int world_size) {
  const double others = static_cast<double>(world_size - 1) / world_size;
  switch (collective) {
    case kAllReduce:
      return 2 * others;
    case kAllGather:
    case kReduceScatter:
    case kAllToAll:
    case kGather:
    case kScatter:
      return others;
    default:
      return 1;
  }
}

}  // namespace rankbox::cli
