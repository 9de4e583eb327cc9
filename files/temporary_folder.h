// A temporary folder, deleted by its owner's destructor.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

namespace rankbox {

/// Temporary files cannot be made: the disk is full or read-only, or TMPDIR is no folder. The
/// message names the folder and the reason, and ends with the fix.
class NoTemporaryFiles : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Writes and removes a file of 64 KiB. Throws NoTemporaryFiles if that fails: a program that
/// failed may have failed for that reason.
void check_has_space(const std::filesystem::path& folder);

class TemporaryFolder {
 public:
  /// Creates it in $TMPDIR, or in /tmp. Throws NoTemporaryFiles.
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  std::string path(const std::string& file) const { return (folder_ / file).string(); }

 private:
  std::filesystem::path folder_;
};

}  // namespace rankbox
