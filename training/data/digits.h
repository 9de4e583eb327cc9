// Synthetic handwritten digits, for use without MNIST: strokes with jittered points, randomly
// slanted, stretched, rotated and moved, with pens of any width, on speckled paper.
//
//   Split data = digits();                         // for training
//   Images images = draw_digits(100, 7, labels);   // to write as IDX
//
// Digit i of a seed is the same on every machine, whatever was drawn before. They are difficult
// enough to tell models apart: docs/architecture.md, "Training", says what each model reaches.
//
// Cost: 30 µs a digit.
#pragma once

#include "training/data/idx.h"

namespace rankbox {

struct DigitsOptions {
  std::int64_t train = 20000;
  std::int64_t test = 2000;
  std::uint64_t seed = 1;
};

/// Images of 28 × 28; stores in labels what they show, with all digits about equally frequent.
Images draw_digits(std::int64_t count, std::uint64_t seed, std::vector<std::uint8_t>& labels);

Split digits(const DigitsOptions& options = {});

}  // namespace rankbox
