// What students handed in: the files of exercises in a folder, by its layout.
//
// A file belongs to the exercise that its name says: broadcast_tree.cc. Symbolic links are listed
// and never followed, since a link could name another student's file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace rankbox::cli {

struct SubmittedFile {
  std::string exercise;
  std::string path;
  std::int64_t time = 0;  // seconds since 1970: when it was handed in, as far as known
  bool is_late = false;   // says the platform
};

struct Student {
  std::string id;                         // unique in the class, and fit for the name of a file
  std::string name;                       // as shown; the id where no other is known
  std::string number = {};                // of the platform; empty: unknown
  std::string email = {};                 // likewise
  std::vector<SubmittedFile> files = {};  // at most one an exercise
  std::vector<std::string> remarks = {};  // about files that are not graded: the first 20
  /// By exercise: about a file whose name is nearly the exercise's. It is among the remarks, too.
  std::map<std::string, std::string> near_misses = {};
  std::size_t more_remarks = 0;  // that are not kept
  std::string unreadable = {};   // why files may not have been found; empty: all were
};

/// Returns the first 20 lines; if there are more, or were, the last one says how many.
std::vector<std::string> shortened(std::vector<std::string> lines, std::size_t more = 0);

/// The names of the layouts, in the order of their descriptions in docs/grading.md.
inline constexpr const char* kLayouts[] = {"folders", "single", "flat", "canvas", "gradescope"};

/// Returns the students in order of their ids. Throws InvalidArgument if the folder cannot be read,
/// or if nobody handed in anything there, which is most likely another layout.
/// @param layout one of kLayouts
/// @param left_out if not null: gets a line about each file that belongs to no student
std::vector<Student> find_submissions(const std::string& folder, const std::string& layout,
                                      std::vector<std::string>* left_out = nullptr);

}  // namespace rankbox::cli
