// Digits as if written by hand, for when MNIST is not at hand: strokes with unsteady points, slanted,
// stretched, turned and moved at random, with pens of any width, on speckled paper.
//
//   Split data = digits();                         // to train with
//   Images images = draw_digits(100, 7, labels);   // to write as IDX
//
// Digit i of a seed is the same on every machine, whatever was drawn before. As difficult as to
// tell models apart: see docs/architecture.md, "Training", for what each reaches.
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

/// Images of 28 × 28; labels gets what they show, all digits about equally often.
Images draw_digits(std::int64_t count, std::uint64_t seed, std::vector<std::uint8_t>& labels);

Split digits(const DigitsOptions& options = {});

}  // namespace rankbox
