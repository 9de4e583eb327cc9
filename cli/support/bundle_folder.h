// A folder of programs for another machine, which needs no Bazel, compiler or checkout.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rankbox::cli {

struct BundleFile {
  std::string file;
  std::string name;  // in the folder; may contain a subfolder
};

struct BundleFolder {
  std::string path;                  // created if missing
  std::vector<BundleFile> programs;  // lib/ gets the shared libraries that a bare system lacks
  std::vector<BundleFile> others;
  std::string script;  // the text of run.sh
  /// Libraries that the other machine provides as well: beginnings of their names.
  std::vector<std::string> provided;
};

/// Writes the folder; an earlier bundle there is overwritten. The other machine provides MPI's
/// libraries and the NVIDIA driver. Throws InvalidArgument for a folder that holds other files,
/// Error if it cannot be written or a library is missing on this machine.
void write_bundle_folder(const BundleFolder& bundle);

/// Writes the folder as one file instead, `path`, which ends with ".tar.xz". Its programs have no
/// symbols for debuggers. Returns its size. Throws as above, and Error if it would have more than
/// `most_bytes`: then no file is left. Blocks for as long as xz takes, about a minute.
std::int64_t write_bundle_archive(const BundleFolder& bundle, std::int64_t most_bytes);

}  // namespace rankbox::cli
