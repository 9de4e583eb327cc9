#include "cli/support/rankbox_more.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/support/backend_program.h"
#include "cli/support/container.h"
#include "cli/support/paths.h"
#include "comm/errors.h"

namespace rankbox::cli {

namespace fs = std::filesystem;

namespace {

char** arguments = nullptr;  // of main(), set before any thread starts

}  // namespace

void hand_over_with(char** argv) { arguments = argv; }

void use_rankbox_more() {
  if (arguments == nullptr) return;
  // The script keeps both in .rankbox/bin; Bazel builds one beside the other.
  const fs::path here = fs::path(own_path()).parent_path();
  const bool has_script = here == fs::path(project_root()) / ".rankbox/bin";
  const std::string program =
      has_script ? built_program({"more"}, "rankbox-more") : (here / "rankbox-more").string();
  std::fflush(stdout);
  execv(program.c_str(), arguments);
  throw Error(fmt::format("cannot run {}: {}", program, std::strerror(errno)));
}

}  // namespace rankbox::cli
