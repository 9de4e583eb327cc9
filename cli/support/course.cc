#include "cli/support/course.h"

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/support/paths.h"

namespace rankbox::cli {

void add_course(CLI::App& command) {
  auto folder = std::make_shared<std::string>();
  command.add_option("--course", *folder, "work on the exercises of this folder instead")
      ->envname("RANKBOX_COURSE")
      ->type_name("DIR");
  command.parse_complete_callback([&command, folder] {
    // Only the program's own option: a subcommand may define another.
    if (command.get_subcommands().empty() && !folder->empty()) use_course(*folder);
  });
}

}  // namespace rankbox::cli
