// What a compilation sees: the source file, the headers beside it, and the public headers.
#pragma once

#include <string>
#include <vector>

#include "cli/plugin/precompiled.h"
#include "cli/support/child.h"

namespace rankbox::cli {

struct Compilation {
  std::string source;       // an absolute path
  std::string folder;       // for its output, which is all that the compiler may write
  Precompiled precompiled;  // its folder may be empty, its headers not
  std::string course;       // a folder whose contracts/ it sees too; empty: none
};

/// Runs the compiler in a container where there are containers (cli/support/container.h), and
/// beside this process where there are none. Blocks until done; see child.h for errors. Throws
/// InvalidArgument unless the source is a regular file, for which it opens no other.
ChildResult run_compiler(ChildOptions options, const Compilation& compilation);

}  // namespace rankbox::cli
