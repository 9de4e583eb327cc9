// recompute: forward twice, so that activations need not be kept (activation checkpointing).
//
// Of a deep model, most memory is what forward saves for backward. Cut the layers into segments.
// Forward keeps only the input of each segment. When backward gets there, the segment runs forward
// again, and this time keeps what it saves. Segment s of S is layers ⌊sL/S⌋ … ⌊(s+1)L/S⌋ - 1.
//
//   L = 8, S = 3              layer  0  1  2  3  4  5  6  7
//   forward                          x  ·  x  ·  ·  ■  ■  ■    x  an input is kept
//   backward of segment 2            x  ·  x  ·  ·  ◀  ◀  ◀    ■  what backward needs is kept
//   segment 1 again, backward        x  ·  ◀  ◀  ◀  ·  ·  ·    ◀  forward again (but for the last
//   segment 0 again, backward        ◀  ◀  ·  ·  ·  ·  ·  ·       segment), then backward
//
// The last segment goes back right after its forward, so it need not run again. Nor is a copy of
// the model's input needed: `batch` has it.
//
// The second forward must be the first one again, to the last bit. Two things decide on it besides
// the input:
//
//   the pass     Dropout draws its mask from the step and the samples' numbers: make every Saved of
//                saved.pass(). Mode::kEvaluation saves nothing, but it drops nothing either.
//   the state    layer.statistics() is what forward itself changes: running means, or how many
//                masks were drawn. Copy it before the first forward, and put it back before the
//                second. Then the second leaves it as the first did.
//
// Build on model.layer(i), its forward, backward and statistics, and cross_entropy.
//
// Cost: 2L - ⌈L/S⌉ layers forward instead of L; L backward, as ever. No messages.
// Memory: for the worst segment, the inputs of segments 1 to s, and what the layers of segment s
// save; besides at most four tensors as large as the largest activation. Of L equal layers in √L
// segments that is about 2√L activations instead of L.
// Blocks: never.
// Difficulty 3/5. Importance 4/5.
// Paper: Chen, Xu, Zhang, Guestrin, Training deep nets with sublinear memory cost, 2016.
#pragma once

#include "training/cross_entropy.h"
#include "training/data/dataset.h"
#include "training/sequential.h"

namespace rankbox {

/// Adds the gradients of the batch's mean loss to the model's parameters. They, the loss and all
/// statistics are to the last bit what one forward and one backward of the whole model give.
///
/// @param segments at least 1; if there are more than layers, some are empty
/// @param saved belongs to this batch. Empty before and after the call
/// @param loss becomes the batch's, as cross_entropy computes it, but without its gradient
void recompute(Sequential& model, const Batch& batch, int segments, Saved& saved, Loss& loss);

}  // namespace rankbox
