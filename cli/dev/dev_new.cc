#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/dev/dev.h"
#include "cli/support/paths.h"
#include "comm/errors.h"
#include "files/git_blob.h"
#include "files/output_file.h"
#include "judge/families.h"

namespace rankbox::cli {

namespace {

namespace fs = std::filesystem;

bool is_course() { return !registry().folder.empty(); }

std::string registry_path() {
  return is_course() ? registry().folder + "/registry.toml" : "exercises/registry.toml";
}

void check_name(const NewExercise& wanted) {
  static constexpr const char* kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789_";
  const std::string& name = wanted.name;
  if (name.empty() || std::islower(static_cast<unsigned char>(name[0])) == 0 ||
      name.find_first_not_of(kAllowed) != std::string::npos) {
    throw InvalidArgument(fmt::format(
        "dev new {}: a name has lower-case letters, digits and _, and begins with a letter", name));
  }
  // Also checked in a course: the linked solution of that name would run instead of the new one.
  const std::vector<Exercise> project = project_registry().exercises;
  const bool is_taken = std::any_of(project.begin(), project.end(),
                                    [&](const Exercise& each) { return each.name == name; });
  if (is_taken || find_exercise(name) != nullptr) {
    throw InvalidArgument(fmt::format("dev new {}: an exercise of that name exists", name));
  }
}

const Chapter& chapter_named(const std::string& folder) {
  std::vector<std::string> folders;
  for (const Chapter& chapter : chapters()) {
    if (chapter.folder == folder) return chapter;
    folders.push_back(chapter.folder);
  }
  if (folders.empty()) {
    throw InvalidArgument(fmt::format(
        "--chapter {0}: {1} has no chapters; add one: [[chapter]], folder = \"{0}\" and "
        "title = \"…\"",
        folder, registry_path()));
  }
  throw InvalidArgument(fmt::format("--chapter {}: expected one of {}; add others to {} first",
                                    folder, fmt::join(folders, ", "), registry_path()));
}

/// Returns the project's exercise that supplies the new one's family and includes.
Exercise model_for(const NewExercise& wanted) {
  const Registry project = project_registry();
  std::vector<std::string> names;
  for (const Exercise& exercise : project.exercises) {
    if (!wanted.like.empty() && exercise.name == wanted.like) return exercise;
    if (!wanted.family.empty() && exercise.family == wanted.family) return exercise;
    names.push_back(wanted.like.empty() ? exercise.family : exercise.name);
  }
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (wanted.like.empty() && wanted.family.empty()) {
    throw InvalidArgument(
        "dev new: --like EXERCISE or --family F says which signature it has (./rankbox list)");
  }
  throw InvalidArgument(
      fmt::format("{} {}: expected one of {}", wanted.like.empty() ? "--family" : "--like",
                  wanted.like.empty() ? wanted.family : wanted.like, fmt::join(names, ", ")));
}

/// Returns the #include lines of the model's contract.
std::string includes_of(const Exercise& model) {
  std::string header = "collectives/" + model.name + ".h";
  if (!fs::exists(absolute_path(header))) header = "parallel/" + model.name + ".h";
  std::istringstream lines(text_of(header));
  std::string includes;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#include") || (line.empty() && !includes.empty()))
      includes += line + "\n";
    if (line.starts_with("namespace")) break;
  }
  return includes.substr(0, includes.find_last_not_of('\n') + 2);
}

struct Skeleton {
  std::string path;
  std::string text;
  std::string to_do;
};

std::string contract_text(const std::string& name, const Exercise& model) {
  return fmt::format(R"(// {0}: TODO: the idea in a sentence, then who holds what before and after.
//
// Cost: TODO: in α, β and γ, for p ranks and n bytes.
// Blocks: TODO: which ranks, and until when.
// Difficulty 2/5. Importance 3/5.
#pragma once

{1}
namespace rankbox {{

/// TODO: what becomes of the arguments.
///
/// REQUIRES: TODO: what all ranks have to agree on.
void {0}{2};

}}  // namespace rankbox
)",
                     name, includes_of(model), find_family(model.family)->parameters);
}

std::string function_text(const std::string& header, const std::string& name, const Exercise& model,
                          const std::string& comment) {
  return fmt::format(R"(#include "{0}"

namespace rankbox {{

void {1}{2} {{
  {3}
  throw NotImplemented("{1}");
}}

}}  // namespace rankbox
)",
                     header, name, find_family(model.family)->parameters, comment);
}

std::string mutants_text(const std::string& name) {
  return fmt::format(R"(# Wrong programs for {0}: see cli/dev/mutants.h. Five at least, such as:
#
# [[mutant]]
# name = 'what is wrong'
# find = 'occurs once in the solution'
# replace = 'is put there instead'
# kind = 'values'
)",
                     name);
}

std::string entry_text(const NewExercise& wanted, const Exercise& model, const std::string& stub) {
  std::string entry = fmt::format(R"([[exercise]]
name = "{}"
chapter = "{}"
difficulty = 2
importance = 3
summary = "TODO: a line for ./rankbox list"
family = "{}"
)",
                                  wanted.name, wanted.chapter, model.family);
  const Family& family = *find_family(model.family);
  if (family.takes_solution) entry += fmt::format("cost = \"{}\"\n", kCostOfSolution);
  if (!family.takes_solution && !model.cost.empty()) {
    entry += fmt::format("cost = \"{}\"\n", model.cost);
  }
  return entry + fmt::format("stub = \"{}\"\n", stub);
}

std::string guide_text(const std::string& name) {
  return fmt::format(R"([{}]
hints = [
  "TODO: a nudge",
  "TODO: the idea",
  "TODO: nearly the answer",
]
next = "TODO: what to try after it passes"
)",
                     name);
}

/// Returns the registry with one more entry, after the last of its chapter.
std::string with_entry(const std::string& text, const std::string& chapter,
                       const std::string& entry) {
  std::istringstream lines(text);
  std::string whole;
  std::size_t end = 0;  // after the last table of this chapter
  bool is_of_chapter = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("[[")) {
      if (is_of_chapter) end = whole.size();
      is_of_chapter = false;
    }
    is_of_chapter |= line == fmt::format("chapter = \"{}\"", chapter) ||
                     line == fmt::format("folder = \"{}\"", chapter);
    whole += line + "\n";
  }
  if (is_of_chapter) end = whole.size();
  const bool is_last = end == whole.size();
  if (is_last) return whole + "\n" + entry;
  return whole.substr(0, end) + entry + "\n" + whole.substr(end);
}

void append(const std::string& path, const std::string& text) {
  const std::string before = fs::exists(absolute_path(path)) ? text_of(path) : "";
  write_file(absolute_path(path), before + (before.empty() ? "" : "\n") + text);
}

}  // namespace

void make_exercise(const NewExercise& wanted) {
  check_name(wanted);
  const Chapter& chapter = chapter_named(wanted.chapter);
  const Exercise model = model_for(wanted);
  Exercise made = model;
  made.name = wanted.name;
  made.chapter = chapter.number;

  const std::string header = contract_path(made);
  const std::string stub = function_text(header, made.name, model,
                                         "// TODO: say what is to be done, and ask a question.");
  const Skeleton skeletons[] = {
      {is_course() ? registry().folder + "/" + header : header, contract_text(made.name, model),
       "the contract: the idea, the cost, what blocks, what is required"},
      {stub_path(made), stub, "the stub: what its TODO asks for"},
      {solution_path(made), function_text(header, made.name, model, "// Write the solution here."),
       "the solution"},
      {mutants_path(made), mutants_text(made.name), "five wrong programs or more"},
  };
  for (const Skeleton& each : skeletons) {
    if (fs::exists(absolute_path(each.path))) {
      throw InvalidArgument(fmt::format("dev new {}: {} exists", made.name, each.path));
    }
  }

  fmt::print("{}{}, judged as {}:\n", made.name, find_family(model.family)->parameters,
             model.family);
  const auto print_to_do = [](const std::string& path, const std::string& to_do) {
    fmt::print("  {:<48} {}\n", path, to_do);
  };
  for (const Skeleton& each : skeletons) {
    fs::create_directories(fs::path(absolute_path(each.path)).parent_path());
    write_file(absolute_path(each.path), each.text);
    print_to_do(each.path, each.to_do);
  }
  const std::string id = git_blob_id(stub).substr(0, kStubDigits);
  write_file(absolute_path(registry_path()),
             with_entry(text_of(registry_path()), chapter.folder, entry_text(wanted, model, id)));
  append(guide_path(chapter), guide_text(made.name));
  print_to_do(registry_path(), "its entry: summary, difficulty, an example worked out by hand");
  print_to_do(guide_path(chapter), "three hints, and what to try next");
  print_to_do(variants_path(made) + "/*.cc", "write two right programs in other styles");
  print_to_do(readme_path(chapter), "teach it there");
  fmt::print("Then: ./rankbox dev check {}\n", made.name);
}

}  // namespace rankbox::cli
