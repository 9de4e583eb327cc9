// Compiles a learner's source file to a library that our programs can load.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "judge/catalog.h"
#include "judge/verdict.h"

namespace rankbox::cli {

/// Returns whether a file of this name beside a source is one that it may include.
bool is_helper(const std::string& path);

/// Returns the source and its helpers, as a compiler names them that gets this source.
std::vector<std::string> source_files(const std::string& source);

/// The most headers beside a file. More are refused: none is left out silently.
inline constexpr std::size_t kMostHelpers = 64;

struct CompileOptions {
  std::string backend = "sim";  // of the program that will load the library: "sim", "mpi" or "nccl"
  bool optimize = false;        // like the reference solutions; false: compiles faster
};

struct Compiled {
  std::optional<Failure> failure;  // the first error
  bool is_ours = false;            // true: no compiler, or a full disk: not the learner's failure
  std::string output;              // the compiler's full output
};

/// Compiles `source` with $CXX (default: c++) into the shared library `library`. Its entry returns
/// the exercise's function (cli/plugin/exercise_entry.h), and load_function() in
/// cli/plugin/plugin.h finds it. Other libraries see only that function. The compiler runs in a
/// container, and sees only what compile_container.h shows. Blocks until done; see child.h for
/// errors. Throws InvalidArgument for a source that is not a regular file,
/// NoTemporaryFiles if the library's folder takes no files.
///
/// @param source a path from the project's root, or an absolute one
Compiled compile(const Exercise& exercise, const std::string& source, const std::string& library,
                 const CompileOptions& options = {});

/// As compile, for a whole program, void rank_main(Comm& dist); see cli/rank_main.h. It is the
/// user's own, and compiled without a container.
Compiled compile_program(const std::string& source, const std::string& library,
                         const CompileOptions& options = {});

/// Returns the verdict on a file that was not compiled. REQUIRES: a failure.
Verdict verdict_of(const std::string& name, const Compiled& compiled);

/// Returns "void rankbox::broadcast_ring(Comm& dist, Tensor& tensor, int src)".
std::string signature(const Exercise& exercise);

}  // namespace rankbox::cli
