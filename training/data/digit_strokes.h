// Handwritten forms of the ten digits, as strokes through a few points.
#pragma once

#include <vector>

namespace rankbox {

/// In a square of side 1, y downwards.
struct Point {
  double x = 0;
  double y = 0;
};
using Stroke = std::vector<Point>;        // a smooth curve; a repeated point is a corner
using Handwriting = std::vector<Stroke>;  // one way to write a digit

/// The ways to write a digit, 0 … 9.
const std::vector<Handwriting>& ways_to_write(int digit);

}  // namespace rankbox
