// Cutting a model into stages, and the shapes that travel between them.
//
//   cut_into_stages(mlp(), {28, 28, 1}, 2):
//
//     stage 0   fc1               [28, 28, 1] → [512]
//     stage 1   relu1 … fc3             [512] → [10]
//
// A pipeline waits for the stage with the most work. The number of parameters stands for work,
// since each takes part in a multiplication for every sample (or token, or pixel); a layer without
// parameters counts as one.
//
// Cost: builds every layer once, one at a time, and sends one sample through it.
#pragma once

#include <cstdint>
#include <vector>

#include "training/sequential.h"

namespace rankbox {

/// Layers [begin, end) of a model.
struct StageCut {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  int stage = 0;
  int stages = 1;
  Shape input = {};   // of one sample, without the batch
  Shape output = {};  // of one sample's output
};

/// One cut per stage, in order; none is empty, and the largest has as little work as possible.
/// @param sample the shape of one sample of the data: {28, 28, 1}
/// Throws InvalidArgument for less than one stage, or more stages than layers.
std::vector<StageCut> cut_into_stages(const Model& model, const Shape& sample, int stages);

/// Its two halves, for callers that load the data later: first the cuts, without shapes.
std::vector<StageCut> cut_into_stages(const Model& model, int stages);
void find_shapes(const Model& model, const Shape& sample, std::vector<StageCut>& cuts);

}  // namespace rankbox
