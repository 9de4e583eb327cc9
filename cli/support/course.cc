#include "cli/support/course.h"

#include <cstdlib>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/support/paths.h"
#include "comm/errors.h"

namespace rankbox::cli {

void add_course(CLI::App& command) {
  auto folder = std::make_shared<std::string>();
  command.add_option("--course", *folder, "work on the exercises of this folder instead")
      ->envname("RANKBOX_COURSE")
      ->type_name("DIR");
  command.parse_complete_callback([&command, folder] {
    if (folder->empty()) return;
    const auto subcommands = command.get_subcommands();
    if (subcommands.empty()) return use_course(*folder);
    // The program's option, before a subcommand that has its own or none. The variable is for all.
    const char* const variable = std::getenv("RANKBOX_COURSE");
    if (variable != nullptr && *folder == variable) return;
    throw InvalidArgument(
        fmt::format("--course {0}: write it after the subcommand: {1} --course {0}", *folder,
                    subcommands.front()->get_name()));
  });
}

}  // namespace rankbox::cli
