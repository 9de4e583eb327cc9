// Which way a batch goes through a layer whose weights are dealt out to ranks: forward, a tensor of
// activations becomes the next; backward, the derivative of the loss by the one becomes that by the
// other. One function does both, so that what travels on the way back stands beside what travels on
// the way forward.
#pragma once

namespace rankbox {

enum class Direction { kForward, kBackward };

}  // namespace rankbox
