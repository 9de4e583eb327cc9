// Which call save_checkpoint and load_checkpoint belong to.
#pragma once

namespace rankbox::seal {

struct Invocation;

/// Sets the call that this process carries out. It lives until the next one is set.
void set_call(const Invocation* call);

}  // namespace rankbox::seal
