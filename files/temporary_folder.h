// A temporary folder, deleted by its owner's destructor.
#pragma once

#include <filesystem>
#include <string>

namespace rankbox {

class TemporaryFolder {
 public:
  /// Creates it in $TMPDIR, or in /tmp. Throws std::system_error.
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  std::string path(const std::string& file) const { return (folder_ / file).string(); }

 private:
  std::filesystem::path folder_;
};

}  // namespace rankbox
