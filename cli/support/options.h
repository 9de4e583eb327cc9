// Options that several subcommands have, and what their values may be.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "comm/run_options.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
class Validator;
}  // namespace CLI

namespace rankbox::cli {

/// Adds --course DIR ($RANKBOX_COURSE): the command works on an instructor's exercises. It sets the
/// command's parse_complete_callback.
void add_course(CLI::App& command);

inline constexpr const char* kExecutorHelp =
    "threads; fibers, for thousands of ranks; or auto (the default): fibers where ranks outnumber "
    "cores 16 times";

/// Returns the executor that `text` names for a world of this size. "auto" is fibers if more than
/// 16 ranks would share a core: switches of threads then take most of the time. Throws
/// InvalidArgument for other text.
ExecutorKind executor_named(std::string_view text, int world_size);

/// Returns a limit on a process's memory, in MiB: what tensors need, and the stacks of fibers,
/// which reserve address space, most of which is never touched.
int memory_mb_for(ExecutorKind executor, int world_size);

/// Returns the mode that "rendezvous", "eager:64K" or "unbounded" names. Throws InvalidArgument,
/// which lists the choices.
Buffering parse_buffering(const std::string& text);

/// Returns the order that "any" or "stream" names. Throws InvalidArgument, which lists the choices.
MessageOrder parse_order(const std::string& text);

inline constexpr const char* kOrderHelp =
    "order of started messages: any (the default), or stream: as on NCCL, one after the other but "
    "for those of one wait_all or sendrecv";

/// Rejects anything else with "'x' should be a whole number from 1 to 100".
CLI::Validator whole_number(std::int64_t least, std::int64_t most);

/// Makes all options of the program and its subcommands refuse an empty value (`--file ""`, mostly
/// an unset variable of a shell) when it parses: it would count as not given, and the command would
/// do something else than asked for. Call it when all are there. Throws InvalidArgument for a
/// `--name=` among the arguments, which CLI11 would complete with the next word.
void refuse_empty_values(CLI::App& app, const std::vector<std::string>& arguments);

/// Parses the arguments of a program without subcommands, argv. Returns false if they ask for help,
/// which app.help() has. Throws InvalidArgument with the command that prints the help.
bool parse_arguments(CLI::App& app, const std::vector<std::string>& arguments,
                     std::string_view help_command);

/// Lists these options and -h first in the help, under "Common options"; the others follow under
/// "Advanced options". Call it when all are there.
/// @param common long names, without dashes
void group_options(CLI::App& app, const std::vector<std::string_view>& common);

/// Returns at most three of `names`, the nearest first: those that contain `text`, or differ from
/// it in at most `most` letters (in a third of its letters, for a long name).
std::vector<std::string> nearest_of(const std::string& text, const std::vector<std::string>& names,
                                    std::size_t most);

}  // namespace rankbox::cli
