// compile_commands.json, the file by which clangd and other editors read the sources as we do.
#pragma once

namespace rankbox::cli {

/// Writes compile_commands.json into the project's root if its content would differ: when sources
/// came or went, or the flags changed. It has an entry for each .cc file of the sandbox: exercises,
/// solutions, tests, libraries, and programs in the root itself. Files for MPI and GPUs, whose
/// headers may not be on this machine, have none. A folder that cannot be written to is no error.
/// Blocks for some ten milliseconds.
void renew_compile_commands();

}  // namespace rankbox::cli
