// Options without a value: `--file ""`, or `--file=`.
//
// Mostly an unset variable of a shell. An option with an empty value would count as not given, and
// the command would do something else than asked for.
#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

/// Makes all options of the program and its subcommands refuse an empty value when it parses. Call
/// it when all are there. Throws InvalidArgument for a `--name=` among the arguments, which CLI11
/// would complete with the next word.
void refuse_empty_values(CLI::App& app, const std::vector<std::string>& arguments);

}  // namespace rankbox::cli
