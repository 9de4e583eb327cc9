// Words for exec and for a shell, programs in PATH, and how a program ended.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rankbox::cli {

/// Returns pointers to the words, as exec takes them; valid until the words change. Call it before
/// a fork: another thread may hold a lock of the allocator that the child would wait for.
std::vector<char*> pointers_to(const std::vector<std::string>& words);

/// Returns whether a shell takes the word as it is.
bool is_plain_word(std::string_view word);

/// Returns the word as a shell reads it back.
std::string quoted_word(const std::string& word);

/// Returns the path of a program in PATH, or of one that is named by its path; empty if there is
/// none.
std::string find_program(const std::string& name);

/// Replaces this process by a program, searched for in PATH. Throws Error if it cannot be run.
[[noreturn]] void replace_process(const std::vector<std::string>& command);

/// Returns the exit code that a shell would show for a status of waitpid: 128 + signal where one
/// ended the program.
int exit_code_of(int status);

}  // namespace rankbox::cli
