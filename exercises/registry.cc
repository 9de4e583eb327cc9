#include "exercises/registry.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "comm/errors.h"
#include "exercises/registry_text.h"

namespace rankbox {

namespace {

bool is_identifier(std::string_view text) {
  return !text.empty() && std::islower(static_cast<unsigned char>(text.front())) != 0 &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

/// One table of the file, with the beginning of its messages.
class Entry {
 public:
  /// @param kind "exercise" or "chapter"; @param label the field that names it
  Entry(const toml::node& node, const std::string& source, const char* kind, const char* label)
      : table_(node.as_table()) {
    where_ = fmt::format("{}:{}: {}", source, node.source().begin.line, kind);
    if (table_ == nullptr) refuse("should be a table");
    if (const auto name = (*table_)[label].value<std::string>()) where_ += " " + *name;
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw InvalidArgument(fmt::format("{}: {}", where_, what));
  }

  [[noreturn]] void refuse(const char* field, const std::string& allowed) const {
    std::ostringstream value;
    const toml::node* node = table_->get(field);
    if (node == nullptr) refuse(fmt::format("{} is missing, expected {}", field, allowed));
    value << toml::node_view<const toml::node>(*node);
    refuse(fmt::format("{} = {}, expected {}", field, value.str(), allowed));
  }

  void check_fields(const std::set<std::string_view>& known) const {
    for (const auto& [key, value] : *table_) {
      if (known.contains(key.str())) continue;
      refuse(fmt::format("unknown field {}, expected {}", key.str(), fmt::join(known, ", ")));
    }
  }

  bool has(const char* field) const { return table_->contains(field); }

  std::string text(const char* field) const {
    const auto value = (*table_)[field].value<std::string>();
    if (!value || value->empty()) refuse(field, "a text");
    return *value;
  }

  std::string text_or(const char* field, const std::string& otherwise) const {
    return has(field) ? text(field) : otherwise;
  }

  /// Empty where there is no such field.
  std::vector<std::string> texts(const char* field) const {
    std::vector<std::string> all;
    if (!has(field)) return all;
    const toml::array* array = (*table_)[field].as_array();
    if (array == nullptr) refuse(field, "a list of names");
    for (const toml::node& node : *array) {
      const auto value = node.value<std::string>();
      if (!value) refuse(field, "a list of names");
      all.push_back(*value);
    }
    return all;
  }

  int whole_number(const char* field, int least, int most) const {
    const auto value = (*table_)[field].value<std::int64_t>();
    if (!value || *value < least || *value > most)
      refuse(field, fmt::format("a number from {} to {}", least, most));
    return static_cast<int>(*value);
  }

  Cost cost(const char* field) const {
    const char* allowed = "{ steps = S, bytes = B, reduced = R }";
    const toml::table* cost = (*table_)[field].as_table();
    if (cost == nullptr || cost->size() != 3) refuse(field, allowed);
    const auto number = [&](const char* part) {
      const auto value = (*cost)[part].value<double>();
      if (!value || !std::isfinite(*value) || *value < 0) refuse(field, allowed);
      return *value;
    };
    return {number("steps"), number("bytes"), number("reduced")};
  }

 private:
  const toml::table* table_;
  std::string where_;
};

Chapter chapter_from(const Entry& entry, const std::string& contracts) {
  entry.check_fields({"folder", "title", "contracts", "hours"});
  Chapter chapter;
  chapter.folder = entry.text("folder");
  const bool fits = chapter.folder.size() > 3 && std::isdigit(chapter.folder[0]) != 0 &&
                    std::isdigit(chapter.folder[1]) != 0 && chapter.folder[2] == '_' &&
                    is_identifier(chapter.folder.substr(3));
  if (!fits) entry.refuse("folder", "two digits and a name, such as 02_broadcast");
  chapter.number = std::stoi(chapter.folder.substr(0, 2));
  chapter.title = entry.text("title");
  chapter.contracts = contracts.empty() ? entry.text("contracts") : contracts;
  if (entry.has("hours")) chapter.hours = entry.whole_number("hours", 1, 100);
  return chapter;
}

const Chapter* find_chapter(const Registry& registry, std::string_view folder) {
  const auto found = std::find_if(registry.chapters.begin(), registry.chapters.end(),
                                  [&](const Chapter& chapter) { return chapter.folder == folder; });
  return found == registry.chapters.end() ? nullptr : &*found;
}

Exercise exercise_from(const Entry& entry, const Registry& registry) {
  entry.check_fields({"name", "chapter", "difficulty", "importance", "summary", "family", "cost",
                      "messages", "example", "example_cost", "calls", "stub"});
  Exercise exercise;
  exercise.name = entry.text("name");
  if (!is_identifier(exercise.name)) {
    entry.refuse("name", "a function's name of lower-case letters, digits and _");
  }
  const Chapter* chapter = find_chapter(registry, entry.text("chapter"));
  if (chapter == nullptr) {
    std::vector<std::string> folders;
    for (const Chapter& each : registry.chapters) folders.push_back(each.folder);
    entry.refuse("chapter", fmt::format("one of {}", fmt::join(folders, ", ")));
  }
  exercise.chapter = chapter->number;
  exercise.difficulty = entry.whole_number("difficulty", 1, 5);
  exercise.importance = entry.whole_number("importance", 1, 5);
  exercise.summary = entry.text("summary");
  exercise.family = entry.text("family");
  exercise.cost = entry.text_or("cost", "");
  exercise.messages = entry.text_or("messages", exercise.messages);
  if (entry.has("example") || entry.has("example_cost")) {
    exercise.example = entry.text("example");
    exercise.example_cost = entry.cost("example_cost");
  }
  exercise.calls = entry.texts("calls");
  exercise.stub = entry.text("stub");
  if (exercise.stub.size() != kStubDigits ||
      exercise.stub.find_first_not_of("0123456789abcdef") != std::string::npos) {
    entry.refuse("stub",
                 fmt::format("the first {} digits of what git hash-object prints", kStubDigits));
  }
  return exercise;
}

std::function<Registry()>& loader() {
  static std::function<Registry()> load = [] {
    return parse_registry(registry_text(), "exercises/registry.toml");
  };
  return load;
}

std::string in_course(const std::string& path) {
  return registry().folder.empty() ? path : registry().folder + "/" + path;
}

/// The project keeps files for tests in tests/, a course outside it does not.
const char* folder_of_tests() { return registry().folder.empty() ? "tests/" : ""; }

}  // namespace

Registry parse_registry(std::string_view text, const std::string& source,
                        const std::string& contracts) {
  toml::table file;
  try {
    file = toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw InvalidArgument(
        fmt::format("{}:{}: {}", source, error.source().begin.line, error.description()));
  }
  for (const auto& [key, value] : file) {
    if ((key != "chapter" && key != "exercise") || !value.is_array()) {
      throw InvalidArgument(fmt::format("{}:{}: \"{}\", expected [[chapter]] or [[exercise]]",
                                        source, value.source().begin.line, key.str()));
    }
  }

  Registry registry;
  registry.source = source;
  const auto for_each = [&](const char* kind, const char* label, const auto& visit) {
    const toml::array* entries = file[kind].as_array();
    for (std::size_t i = 0; entries != nullptr && i < entries->size(); ++i) {
      visit(Entry((*entries)[i], source, kind, label));
    }
  };
  for_each("chapter", "folder", [&](const Entry& entry) {
    Chapter chapter = chapter_from(entry, contracts);
    for (const Chapter& other : registry.chapters) {
      if (other.number == chapter.number) entry.refuse("folder", "a number that is not taken");
    }
    registry.chapters.push_back(std::move(chapter));
  });
  for_each("exercise", "name", [&](const Entry& entry) {
    Exercise exercise = exercise_from(entry, registry);
    for (const Exercise& other : registry.exercises) {
      if (other.name == exercise.name) entry.refuse("name", "one that is not taken");
    }
    registry.exercises.push_back(std::move(exercise));
  });
  return registry;
}

const Registry& registry() {
  static const Registry loaded = loader()();
  return loaded;
}

void use_registry(std::function<Registry()> load) { loader() = std::move(load); }

const std::vector<Chapter>& chapters() { return registry().chapters; }
const std::vector<Exercise>& exercises() { return registry().exercises; }

const Exercise* find_exercise(std::string_view name) {
  const auto found = std::find_if(exercises().begin(), exercises().end(),
                                  [&](const Exercise& exercise) { return exercise.name == name; });
  return found == exercises().end() ? nullptr : &*found;
}

const Chapter& chapter_of(const Exercise& exercise) {
  for (const Chapter& chapter : chapters()) {
    if (chapter.number == exercise.chapter) return chapter;
  }
  throw InvalidArgument(fmt::format("there is no chapter {}", exercise.chapter));
}

std::string contract_path(const Exercise& exercise) {
  return fmt::format("{}/{}.h", chapter_of(exercise).contracts, exercise.name);
}

std::string header_path(const Exercise& exercise) { return in_course(contract_path(exercise)); }

std::string stub_path(const Exercise& exercise) {
  return in_course(fmt::format("exercises/{}/{}.cc", chapter_of(exercise).folder, exercise.name));
}

std::string solution_path(const Exercise& exercise) {
  return in_course(fmt::format("solutions/{}/{}.cc", chapter_of(exercise).folder, exercise.name));
}

std::string guide_path(const Chapter& chapter) {
  return in_course(fmt::format("exercises/{}/guide.toml", chapter.folder));
}

std::string readme_path(const Chapter& chapter) {
  return in_course(fmt::format("exercises/{}/README.md", chapter.folder));
}

std::string mutants_path(const Exercise& exercise) {
  return in_course(fmt::format("{}mutants/{}.toml", folder_of_tests(), exercise.name));
}

std::string variants_path(const Exercise& exercise) {
  return in_course(fmt::format("{}variants/{}", folder_of_tests(), exercise.name));
}

}  // namespace rankbox
