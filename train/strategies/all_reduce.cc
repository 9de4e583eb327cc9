#include "train/strategies/all_reduce.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comm/errors.h"
#include "exercises/registry.h"
#include "solutions/table.h"

namespace rankbox::train {
namespace {

void native(Comm& dist, Tensor& tensor, ReduceOp op) { dist.all_reduce(tensor, op); }

/// Returns the exercises whose functions the solution of an all-reduce calls.
std::vector<std::string> called_by(std::string_view name) {
  if (name == "allreduce_naive") return {"reduce_naive", "broadcast_naive"};
  if (name == "allreduce_tree") return {"reduce_tree", "broadcast_tree"};
  if (name == "allreduce_hierarchical")
    return {"reduce_tree", "allreduce_rabenseifner", "broadcast_tree"};
  return {};
}

}  // namespace

std::span<const AllReduce> all_reduces() {
  static const std::vector<AllReduce> all = [] {
    constexpr std::string_view kPrefix = "allreduce_";
    std::vector<AllReduce> found = {{"native", native, {}}};
    for (const Exercise& exercise : exercises()) {
      const bool is_called_alike =
          exercise.family == "allreduce" || exercise.family == "hierarchical_allreduce";
      if (!is_called_alike || !exercise.name.starts_with(kPrefix)) continue;
      std::vector<std::string> uses = called_by(exercise.name);
      uses.insert(uses.begin(), exercise.name);
      found.push_back(
          {exercise.name.substr(kPrefix.size()),
           reinterpret_cast<void (*)(Comm&, Tensor&, ReduceOp)>(solution_of(exercise.name)),
           std::move(uses)});
    }
    return found;
  }();
  return all;
}

const AllReduce& all_reduce_named(std::string_view name) {
  std::vector<std::string_view> names;
  for (const AllReduce& each : all_reduces()) {
    if (each.name == name) return each;
    names.push_back(each.name);
  }
  throw InvalidArgument(fmt::format("--all-reduce {}: there is no such all-reduce, only {}", name,
                                    fmt::join(names, ", ")));
}

}  // namespace rankbox::train
