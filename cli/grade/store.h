// Results on disk, so that grading a class goes on where it was killed.
#pragma once

#include <map>
#include <string>

#include "cli/grade/result.h"
#include "files/fd.h"

namespace rankbox::cli {

/// A file of JSON lines: a line with the secret, then a line for each result. A line is there whole
/// or ignored, so a process may be killed at any moment. One process at a time uses a file.
/// Thread safety: the caller serializes calls.
class ResultStore {
 public:
  /// Opens or creates the file, whose folders must exist. Throws InvalidArgument if another process
  /// is using it, Error if it cannot be read and written.
  /// @param forget starts over: drops what is in it
  explicit ResultStore(const std::string& path, bool forget = false);

  /// The secret from which the judge's inputs of these results follow. Drawn for a new file; only
  /// the user can read the file.
  const std::string& secret() const { return secret_; }

  /// Returns null if there is none.
  const GradeResult* find(const std::string& key) const;
  /// Keeps a result. Throws Error if it cannot be written.
  void add(const std::string& key, const GradeResult& result);

 private:
  void read_line(const std::string& line);
  void draw_secret();
  void append(const std::string& line);

  std::string path_;
  Fd fd_;
  std::string secret_;
  std::map<std::string, GradeResult> results_;
};

}  // namespace rankbox::cli
