#include "cli/exercise/stub.h"

#include <fstream>
#include <iterator>
#include <system_error>

#include <fmt/format.h>

#include "cli/support/child.h"
#include "cli/support/paths.h"
#include "comm/errors.h"
#include "files/git_blob.h"

namespace rankbox::cli {

namespace {

std::string own_text(const Exercise& exercise) {
  std::ifstream file(absolute_path(stub_path(exercise)), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_original(const Exercise& exercise, const std::string& text) {
  return git_blob_id(text).starts_with(exercise.stub);
}

}  // namespace

bool is_stub(const Exercise& exercise) { return is_original(exercise, own_text(exercise)); }

std::string stub_text(const Exercise& exercise) {
  if (std::string own = own_text(exercise); is_original(exercise, own)) return own;

  ChildOptions options;
  options.command = {"git", "cat-file", "blob", exercise.stub};
  options.directory = course_root();
  std::string problem;
  try {
    ChildResult git = run_child(options);
    if (git.status == 0 && is_original(exercise, git.output)) return git.output;
    problem = git.output.substr(0, git.output.find('\n'));
  } catch (const std::system_error& error) {
    throw Error(fmt::format("{} as handed out is in git's history: {}: install git",
                            stub_path(exercise), error.what()));
  }
  throw Error(
      fmt::format("{} as handed out ({}) is not in git's history here: {}; in a shallow clone, "
                  "git fetch --unshallow brings it",
                  stub_path(exercise), exercise.stub, problem));
}

}  // namespace rankbox::cli
