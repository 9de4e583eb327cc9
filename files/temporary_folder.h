// A folder that goes away with its owner.
#pragma once

#include <filesystem>
#include <string>

namespace rankbox {

class TemporaryFolder {
 public:
  /// In $TMPDIR, or /tmp. Throws std::system_error.
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  std::string path(const std::string& file) const { return (folder_ / file).string(); }

 private:
  std::filesystem::path folder_;
};

}  // namespace rankbox
