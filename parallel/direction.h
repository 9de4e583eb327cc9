// The direction of a batch through a sharded layer. Forward, a tensor of activations becomes the
// next; backward, the derivative of the loss by the output becomes that by the input. One function
// does both, so that the messages of both directions stand side by side.
#pragma once

namespace rankbox {

enum class Direction { kForward, kBackward };

}  // namespace rankbox
