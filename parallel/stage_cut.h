// Where a model is cut into stages, and what travels between them.
//
//   cut_into_stages(mlp(), {28, 28, 1}, 2):
//
//     stage 0   fc1               [28, 28, 1] → [512]
//     stage 1   relu1 … fc3             [512] → [10]
//
// The stage with the most work is what a pipeline waits for. Work is taken to be the number of
// parameters, since each takes part in a multiplication for every sample (or token, or pixel); layers
// without any count as one.
//
// Cost: builds every layer once, one at a time, and sends one sample through.
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
  Shape output = {};  // the same of what comes out
};

/// One for each stage, in order; none is empty, and the largest has as little work as can be.
/// @param sample the shape of one sample of the data: {28, 28, 1}
/// Throws InvalidArgument for less than one stage, or more stages than layers.
std::vector<StageCut> cut_into_stages(const Model& model, const Shape& sample, int stages);

/// The two halves of it, for those who get to know the data later: first without shapes.
std::vector<StageCut> cut_into_stages(const Model& model, int stages);
void find_shapes(const Model& model, const Shape& sample, std::vector<StageCut>& cuts);

}  // namespace rankbox
