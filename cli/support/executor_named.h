// --executor of the subcommands that run ranks in the sandbox.
#pragma once

#include <string_view>

#include "comm/run_options.h"

namespace rankbox::cli {

inline constexpr const char* kExecutorHelp =
    "threads; fibers, for thousands of ranks; or auto (the default): fibers where ranks outnumber "
    "cores 16 times";

/// Returns the executor that `text` names for a world of this size. "auto" is fibers if more than
/// 16 ranks would share a core: switches of threads then take most of the time. Throws
/// InvalidArgument for other text.
ExecutorKind executor_named(std::string_view text, int world_size);

/// Returns a limit on a process's memory, in MiB: what tensors need, and the stacks of fibers,
/// which reserve address space, most of which is never touched.
int memory_mb_for(ExecutorKind executor, int world_size);

}  // namespace rankbox::cli
