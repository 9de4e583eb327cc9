#include "parallel/stage_cut.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "comm/errors.h"

namespace rankbox {

namespace {

Shape without_batch(const Shape& shape) {
  const std::vector<std::int64_t>& extents = shape.extents();
  return std::vector<std::int64_t>(extents.begin() + 1, extents.end());
}

std::vector<std::int64_t> work_of(const Model& model) {
  std::vector<std::int64_t> work;
  for (const auto& recipe : model)
    work.push_back(std::max<std::int64_t>(1, count_elements(recipe.make()->parameters())));
  return work;
}

/// The first layer of each stage, and the end of the last: the largest stage has as little work as
/// possible.
std::vector<std::size_t> split_evenly(const std::vector<std::int64_t>& work, std::size_t stages) {
  const std::size_t layers = work.size();
  // largest[s][n]: for the first n layers in s stages; from[s][n]: where the last of these begins.
  const std::int64_t never = std::numeric_limits<std::int64_t>::max();
  std::vector<std::vector<std::int64_t>> largest(stages + 1,
                                                 std::vector<std::int64_t>(layers + 1, never));
  std::vector<std::vector<std::size_t>> from(stages + 1, std::vector<std::size_t>(layers + 1, 0));
  largest[0][0] = 0;
  for (std::size_t s = 1; s <= stages; ++s) {
    for (std::size_t n = s; n <= layers; ++n) {
      std::int64_t last = 0;
      for (std::size_t begin = n; begin-- >= s;) {
        last += work[begin];
        const std::int64_t here = std::max(largest[s - 1][begin], last);
        if (here >= largest[s][n]) continue;
        largest[s][n] = here;
        from[s][n] = begin;
      }
    }
  }
  std::vector<std::size_t> bounds = {layers};
  for (std::size_t s = stages; s > 0; --s) bounds.push_back(from[s][bounds.back()]);
  std::reverse(bounds.begin(), bounds.end());
  return bounds;
}

}  // namespace

std::vector<StageCut> cut_into_stages(const Model& model, int stages) {
  if (stages < 1 || static_cast<std::size_t>(stages) > model.size()) {
    throw InvalidArgument(
        fmt::format("{} stages of a model of {} layers: every stage needs one at least; give 1 to "
                    "{} stages",
                    stages, model.size(), model.size()));
  }
  const std::vector<std::size_t> bounds =
      split_evenly(work_of(model), static_cast<std::size_t>(stages));
  std::vector<StageCut> cuts;
  for (int stage = 0; stage < stages; ++stage) {
    const auto at = static_cast<std::size_t>(stage);
    cuts.push_back({static_cast<std::int64_t>(bounds[at]),
                    static_cast<std::int64_t>(bounds[at + 1]), stage, stages});
  }
  return cuts;
}

void find_shapes(const Model& model, const Shape& sample, std::vector<StageCut>& cuts) {
  std::vector<std::int64_t> extents = sample.extents();
  extents.insert(extents.begin(), 1);
  Tensor x = zeros(extents);
  Saved saved(Pass{.mode = Mode::kEvaluation});
  for (StageCut& cut : cuts) {
    cut.input = without_batch(x.shape());
    for (std::int64_t i = cut.begin; i < cut.end; ++i)
      x = model[static_cast<std::size_t>(i)].make()->forward(std::move(x), saved);
    cut.output = without_batch(x.shape());
  }
}

std::vector<StageCut> cut_into_stages(const Model& model, const Shape& sample, int stages) {
  std::vector<StageCut> cuts = cut_into_stages(model, stages);
  find_shapes(model, sample, cuts);
  return cuts;
}

}  // namespace rankbox
