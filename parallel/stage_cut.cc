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

/// What one sample is before each layer, and after the last; and what each layer has to do.
struct Walk {
  std::vector<Shape> shapes;       // [layers + 1]
  std::vector<std::int64_t> work;  // [layers]
};

Walk walk_through(const Model& model, const Shape& sample) {
  std::vector<std::int64_t> extents = sample.extents();
  extents.insert(extents.begin(), 1);
  Tensor x = zeros(extents);
  Saved saved(Pass{.mode = Mode::kEvaluation});
  Walk walk{{sample}, {}};
  for (const auto& recipe : model) {
    const std::unique_ptr<Layer> layer = recipe.make();
    walk.work.push_back(std::max<std::int64_t>(1, count_elements(layer->parameters())));
    x = layer->forward(std::move(x), saved);
    walk.shapes.push_back(without_batch(x.shape()));
  }
  return walk;
}

/// Where stages begin, and the last one ends: the largest sum of a stage is as small as can be.
std::vector<std::size_t> split_evenly(const std::vector<std::int64_t>& work, std::size_t stages) {
  const std::size_t layers = work.size();
  // largest[s][n]: of the first n layers in s stages; from[s][n]: where the last of these begins.
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

std::vector<StageCut> cut_into_stages(const Model& model, const Shape& sample, int stages) {
  if (stages < 1 || static_cast<std::size_t>(stages) > model.size()) {
    throw InvalidArgument(
        fmt::format("{} stages of a model of {} layers: every stage needs one at least; give 1 to "
                    "{} stages",
                    stages, model.size(), model.size()));
  }
  const Walk walk = walk_through(model, sample);
  const std::vector<std::size_t> bounds = split_evenly(walk.work, static_cast<std::size_t>(stages));
  std::vector<StageCut> cuts;
  for (std::size_t s = 0; s + 1 < bounds.size(); ++s) {
    cuts.push_back({static_cast<std::int64_t>(bounds[s]), static_cast<std::int64_t>(bounds[s + 1]),
                    static_cast<int>(s), stages, walk.shapes[bounds[s]],
                    walk.shapes[bounds[s + 1]]});
  }
  return cuts;
}

}  // namespace rankbox
