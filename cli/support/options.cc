#include "cli/support/options.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/support/lists.h"
#include "cli/support/paths.h"
#include "comm/errors.h"
#include "comm/whole_number.h"

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

ExecutorKind executor_named(std::string_view text, int world_size) {
  constexpr unsigned kMostRanksOfCore = 16;
  for (const ExecutorKind kind : {ExecutorKind::kThreads, ExecutorKind::kFibers}) {
    if (text == name_of(kind)) return kind;
  }
  if (text != "auto") {
    throw InvalidArgument(fmt::format("--executor \"{}\": choose auto, threads or fibers", text));
  }
  const unsigned cores = std::thread::hardware_concurrency();  // 0: unknown
  const bool is_crowded = cores > 0 && static_cast<unsigned>(world_size) > kMostRanksOfCore * cores;
  return is_crowded ? ExecutorKind::kFibers : ExecutorKind::kThreads;
}

int memory_mb_for(ExecutorKind executor, int world_size) {
  constexpr int kForTensors = 8192;
  return executor == ExecutorKind::kFibers ? kForTensors + world_size / 3 : kForTensors;
}

Buffering parse_buffering(const std::string& text) {
  if (text == "rendezvous") return Buffering::rendezvous();
  if (text == "unbounded") return Buffering::unbounded();
  constexpr std::string_view kEager = "eager:";
  if (text.starts_with(kEager))
    return Buffering::eager(parse_bytes(std::string_view(text).substr(kEager.size())));
  throw InvalidArgument(fmt::format(
      "unknown buffering \"{}\": choose rendezvous, eager:BYTES (like eager:64K) or unbounded",
      text));
}

MessageOrder parse_order(const std::string& text) {
  if (text == "any") return MessageOrder::kAny;
  if (text == "stream") return MessageOrder::kStream;
  throw InvalidArgument(fmt::format("--order \"{}\": choose any or stream", text));
}

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    if (parse_whole_number(text, least, most)) return "";
    return fmt::format("'{}' should be a whole number from {} to {}", text, least, most);
  };
  return {check, ""};
}

namespace {

constexpr const char* kEmpty = "the value is empty";

void refuse_in(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_expected_min() == 0) continue;  // a flag
    option->check([](const std::string& text) { return text.empty() ? kEmpty : ""; }, "");
  }
  for (CLI::App* subcommand : app.get_subcommands([](const CLI::App* each) {
         return !each->get_group().empty();  // a hidden one takes this program's own arguments
       })) {
    refuse_in(*subcommand);
  }
}

}  // namespace

void refuse_empty_values(CLI::App& app, const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "--") break;
    if (word.starts_with("--") && word.find('=') + 1 == word.size())
      throw InvalidArgument(fmt::format("{} {}", word, kEmpty));
    // To CLI11 an optional value that is empty is none.
    const CLI::Option* const option =
        word.starts_with("--") ? app.get_option_no_throw(word) : nullptr;
    const bool is_optional =
        option && option->get_expected_min() == 0 && option->get_expected_max() > 0;
    if (is_optional && i + 1 < arguments.size() && arguments[i + 1].empty())
      throw InvalidArgument(fmt::format("{}: {}", word, kEmpty));
  }
  refuse_in(app);
}

bool parse_arguments(CLI::App& app, const std::vector<std::string>& arguments,
                     std::string_view help_command) {
  refuse_empty_values(app, arguments);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // parse() expects this
  reversed.pop_back();
  try {
    app.parse(reversed);
    return true;
  } catch (const CLI::CallForHelp&) {
    return false;
  } catch (const CLI::ConversionError& error) {
    throw InvalidArgument(
        fmt::format("{}, expected a number (see {})", error.what(), help_command));
  } catch (const CLI::ParseError& error) {
    throw InvalidArgument(fmt::format("{} (see {})", error.what(), help_command));
  }
}

void group_options(CLI::App& app, const std::vector<std::string_view>& common) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    const bool is_common = std::ranges::any_of(option->get_lnames(), [&](const std::string& name) {
      return name.starts_with("help") || std::ranges::count(common, name) > 0;
    });
    option->group(is_common ? "Common options" : "Advanced options");
  }
}

namespace {

/// Returns the fewest insertions, deletions and replacements that turn a into b (Levenshtein).
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> nearest_of(const std::string& text, const std::vector<std::string>& names,
                                    std::size_t most) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& name : names) {
    // "ring" is far from "broadcast_ring" in letters, and still a likely name to type.
    const bool part = !text.empty() && name.find(text) != std::string::npos;
    const std::size_t far = distance(text, name);
    if (part || far <= std::max(most, name.size() / 3)) ranked.emplace_back(part ? 0 : far, name);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> nearest;
  for (const auto& [far, name] : ranked) {
    if (nearest.size() < 3) nearest.push_back(name);
  }
  return nearest;
}

}  // namespace rankbox::cli
