// The loss curve as text.
//
//   2.31 |*
//        | *
//   1.16 |  **
//        |    ****
//      0 |        ************
//        +--------------------
//         step 1        step 936
//
// Each column is the mean over an equal part of the steps, so that neither a long run nor a noisy
// one spoils the picture.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace rankbox::train {

struct CurveOptions {
  int columns = 80;             // of every line, at least 30
  int rows = 8;                 // of the curve, at least 3
  std::int64_t first_step = 1;  // the number of the first loss
  bool ascii = false;           // for terminals without UTF-8
};

/// Returns lines that end in newlines. Empty for fewer than two losses.
std::string draw_loss_curve(std::span<const double> losses, const CurveOptions& options = {});

}  // namespace rankbox::train
