#include "tests/cli/attacks.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "comm/errors.h"

namespace rankbox {

namespace {

namespace fs = std::filesystem;

constexpr int kSeconds = 20;  // of the judge, where an attack reaches no limit

#ifdef __x86_64__
constexpr bool kIsX86 = true;
#else
constexpr bool kIsX86 = false;
#endif

/// The function that an exercise asks for.
struct Function {
  std::string_view exercise;
  std::string_view header;
  std::string_view head;
};

constexpr Function kFunctions[] = {
    {"broadcast_naive", "attack.h", "void broadcast_naive(Comm& dist, Tensor& tensor, int src)"},
    {"broadcast_ring", "collectives/broadcast_ring.h",
     "void broadcast_ring(Comm& dist, Tensor& tensor, int src)"},
    {"allgather_ring", "collectives/allgather_ring.h",
     "void allgather_ring(Comm& dist, const Tensor& tensor, Tensor& gathered)"},
    {"allreduce_ring", "collectives/allreduce_ring.h",
     "void allreduce_ring(Comm& dist, Tensor& tensor, ReduceOp op)"},
    {"race", "collectives/race.h",
     "void race(SharedValue& value, int threads, std::int64_t repeats)"},
    {"ddp_no_sync", "parallel/ddp_no_sync.h",
     "void ddp_no_sync(Comm& dist, Sequential& model, const std::vector<Batch>& micro_batches)"},
    {"zero1", "second_copy.h",
     "void zero1(Comm& dist, const std::vector<Parameter*>& parameters, Shard& shard,\n"
     "           Optimizer& optimizer)"},
    {"zero3", "parallel/zero3.h",
     "void zero3(Comm& dist, Sequential& model, const Batch& batch, Saved& saved,\n"
     "           std::vector<Shard>& shards, Loss& loss, Optimizer& optimizer)"},
};

const Function& function_of(const std::string& exercise) {
  for (const Function& function : kFunctions)
    if (function.exercise == exercise) return function;
  throw Error(fmt::format("no function of '{}' in tests/cli/attacks.cc: add it", exercise));
}

void check_keys(const toml::table& table) {
  static constexpr std::array<std::string_view, 11> kKeys = {
      "tries",    "exercise", "kind",   "sealed_only", "seconds", "x86_64_only",
      "includes", "above",    "before", "body",        "whole"};
  for (const auto& [key, value] : table) {
    if (std::find(kKeys.begin(), kKeys.end(), key.str()) == kKeys.end())
      throw Error(fmt::format("there is no key '{}'", key.str()));
  }
}

template <class T>
T value_of(const toml::table& table, const char* key, T otherwise = {}) {
  const toml::node* const node = table.get(key);
  if (node == nullptr) return otherwise;
  if (const auto value = node->value<T>()) return *value;
  throw Error(fmt::format("'{}' has the wrong type", key));
}

FailureKind kind_of(const toml::table& table) {
  const auto kind = value_of<std::string>(table, "kind");
  if (kind.empty()) return FailureKind::kNotImplemented;
  for (const FailureKind known : {FailureKind::kCompile, FailureKind::kMemory})
    if (kind == name_of(known)) return known;
  throw Error(fmt::format("kind is '{}', should be 'compile' or 'memory'", kind));
}

std::string program_of(const toml::table& table, const std::string& exercise) {
  if (table.contains("whole")) {
    for (const char* part : {"includes", "above", "before", "body"})
      if (table.contains(part)) throw Error(fmt::format("has both 'whole' and '{}'", part));
    return value_of<std::string>(table, "whole") + "\n";
  }
  const Function& function = function_of(exercise);
  std::string program;
  if (const toml::node* includes = table.get("includes")) {
    if (!includes->is_array()) throw Error("'includes' should be a list of strings");
    for (const toml::node& include : *includes->as_array()) {
      const auto header = include.value<std::string>();
      if (!header) throw Error("'includes' should be a list of strings");
      program += fmt::format("#include {}\n", *header);
    }
  }
  program += fmt::format("#include \"{}\"\n\n{}\n\n", function.header,
                         value_of<std::string>(table, "above"));
  program += fmt::format("namespace rankbox {{\n\n{}\n\n", value_of<std::string>(table, "before"));
  return program + fmt::format("{} {{\n{}\n}}\n\n}}  // namespace rankbox\n", function.head,
                               value_of<std::string>(table, "body"));
}

Attack attack_of(const std::string& name, const toml::table& table) {
  check_keys(table);
  const auto exercise = value_of<std::string>(table, "exercise", "broadcast_naive");
  Attack attack = {.name = name,
                   .tries = value_of<std::string>(table, "tries"),
                   .exercise = exercise,
                   .kind = kind_of(table),
                   .sealed_only = value_of<bool>(table, "sealed_only"),
                   .seconds = value_of<int>(table, "seconds", kSeconds),
                   .program = program_of(table, exercise)};
  if (attack.tries.empty()) throw Error("'tries' is missing");
  return attack;
}

toml::table parsed(const fs::path& file) {
  try {
    return toml::parse_file(file.string());
  } catch (const toml::parse_error& error) {
    throw Error(
        fmt::format("{}:{}: {}", file.string(), error.source().begin.line, error.description()));
  }
}

}  // namespace

std::vector<Attack> attacks_in(const fs::path& folder) {
  std::set<fs::path> files;
  for (const auto& file : fs::directory_iterator(folder))
    if (file.path().extension() == ".toml") files.insert(file.path());

  std::vector<Attack> attacks;
  std::set<std::string> names;
  for (const fs::path& file : files) {
    const toml::table tables = parsed(file);
    for (const auto& [key, value] : tables) {
      const std::string name(key.str());
      try {
        if (!names.insert(name).second) throw Error("this name is taken");
        if (!value.is_table()) throw Error("should be a table");
        const toml::table& table = *value.as_table();
        attacks.push_back(attack_of(name, table));
        if (value_of<bool>(table, "x86_64_only") && !kIsX86) attacks.pop_back();
      } catch (const Error& error) {
        throw Error(fmt::format("{}: {}: {}", file.string(), name, error.what()));
      }
    }
  }
  return attacks;
}

}  // namespace rankbox
