#include "cli/compare/plot.h"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/support/child.h"
#include "cli/support/paths.h"
#include "comm/errors.h"
#include "files/output_file.h"
#include "files/temporary_folder.h"

namespace rankbox::cli {
namespace {

constexpr std::int64_t kLargestPicture = std::int64_t{1} << 28;

ChildResult python(const std::string& program, const std::vector<std::string>& arguments) {
  ChildOptions options;
  options.command = {program};
  options.command.insert(options.command.end(), arguments.begin(), arguments.end());
  options.seconds = 120;
  options.file_bytes = kLargestPicture;
  return run_child(options);
}

/// Tries several interpreters: the first python3 in PATH may lack the distribution's packages.
std::string python_with_matplotlib() {
  for (const char* program : {"python3", "/usr/bin/python3"}) {
    if (python(program, {"-c", "import matplotlib"}).status == 0) return program;
  }
  throw Error(
      "--plot: no python3 with matplotlib here. Run: sudo apt-get install python3-matplotlib");
}

std::string kind_of(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension();
  for (const char* known : {".svg", ".png", ".pdf"}) {
    if (extension == known) return extension;
  }
  throw InvalidArgument(fmt::format("--plot {}: the name should end in .svg, .png or .pdf", path));
}

}  // namespace

void check_plottable(const std::string& path) {
  kind_of(path);
  check_writable("--plot", path);
  const InterruptGuard guard;
  python_with_matplotlib();
}

void plot(const nlohmann::ordered_json& result, const std::string& path,
          const std::string& script) {
  const TemporaryFolder folder;
  const std::string source = folder.path("result.json");
  const std::string picture = folder.path("picture" + kind_of(path));
  write_file(source, result.dump());
  const InterruptGuard guard;
  const ChildResult drawn =
      python(python_with_matplotlib(), {project_root() + "/" + script, source, picture});
  if (drawn.status != 0) {
    throw Error(fmt::format("--plot {}: {} ended with\n{}", path, script, drawn.output));
  }
  copy_file_to(picture, path);
}

}  // namespace rankbox::cli
