// Keeps freed memory for the next step, instead of handing it back to the system.
//
// Every step allocates and frees the same activations. glibc maps large ones anew each time, and the
// kernel clears their pages: see keep_memory.cc for what that takes. Elsewhere: nothing.
#pragma once

namespace rankbox::train {

/// Call it before anything large is allocated, on the main thread.
void keep_freed_memory();

}  // namespace rankbox::train
