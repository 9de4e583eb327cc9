#include "tests/cli/wrong_programs.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "cli/support/paths.h"
#include "comm/errors.h"
#include "exercises/registry.h"
#include "tests/cli/command.h"

namespace rankbox {

namespace {

namespace fs = std::filesystem;

/// Returns the text of a file: the #includes at the beginning of the program stay outside of the
/// namespace.
std::string file_with(const std::string& program, const Exercise& exercise) {
  std::string includes = fmt::format("#include \"{}\"\n", contract_path(exercise));
  std::string rest;
  std::istringstream lines(program);
  for (std::string line; std::getline(lines, line);)
    (line.starts_with("#include") ? includes : rest) += line + "\n";
  return fmt::format("{}\nnamespace rankbox {{\n\n{}\n}}  // namespace rankbox\n", includes, rest);
}

}  // namespace

std::vector<WrongProgram> wrong_programs(const std::string& table) {
  const fs::path folder = fs::path(project()) / "wrong";
  fs::create_directories(folder);
  std::vector<std::pair<toml::source_index, WrongProgram>> found;
  for (const auto& [key, value] :
       toml::parse(read_file(fmt::format("tests/judge/{}.toml", table)))) {
    const toml::table& row = *value.as_table();
    const auto text = [&](const char* name) { return row[name].value_or(std::string()); };
    WrongProgram program = {std::string(key.str()),   text("exercise"), text("kind"),
                            row["rank"].value_or(-1), text("message"),  ""};
    program.path = fmt::format("wrong/{}.cc", program.name);
    std::ofstream(folder / (program.name + ".cc"))
        << file_with(text("program"), cli::exercise_named(program.exercise));
    found.emplace_back(row.source().begin.line, std::move(program));
  }
  std::ranges::sort(found, {}, [](const auto& each) { return each.first; });
  std::vector<WrongProgram> programs;
  for (auto& [line, program] : found) programs.push_back(std::move(program));
  return programs;
}

std::string wrong_program(const std::string& name) {
  for (const WrongProgram& each : wrong_programs("wrong"))
    if (each.name == name) return each.path;
  throw Error(fmt::format("tests/judge/wrong.toml has no program '{}'", name));
}

}  // namespace rankbox
