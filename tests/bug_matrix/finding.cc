#include "tests/bug_matrix/finding.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "comm/errors.h"
#include "tests/support/thrown.h"

namespace rankbox::testing {
namespace {

constexpr std::string_view kFile = "programs.cc:";

std::set<int> lines_in(const std::string& text) {
  std::set<int> lines;
  for (std::size_t at = text.find(kFile); at != std::string::npos; at = text.find(kFile, at + 1))
    lines.insert(std::atoi(text.c_str() + at + kFile.size()));
  return lines;
}

bool is_message(const std::string& op) {
  constexpr std::string_view kMessages[] = {"send", "recv", "isend", "irecv", "sendrecv"};
  return std::ranges::find(kMessages, op) != std::end(kMessages);
}

std::string kind_of_deadlock(const DeadlockError& error) {
  if (error.cycle().size() == 1) return "bad peer";  // itself
  // Where ranks wait in several communicators, the text names the world, too.
  if (contains(error.what(), "in the world")) return "communicator mismatch";
  const auto waits_in_message = [&](int rank) {
    const auto wait = std::ranges::find(error.waits(), rank, &Wait::rank);
    return wait != error.waits().end() && is_message(wait->op);
  };
  return std::ranges::all_of(error.cycle(), waits_in_message) ? "deadlock" : "call mismatch";
}

/// The class follows from the arguments in which the calls differ.
std::string kind_of_mismatch(const std::string& text) {
  const std::string fields = text.substr(0, text.find(':'));
  if (contains(fields, "root")) return "root mismatch";
  if (contains(fields, "dtype")) return "datatype mismatch";
  if (contains(fields, " op")) return "operator mismatch";
  return contains(fields, "size") ? "size mismatch" : "call mismatch";
}

std::string kind_of_argument(const InvalidArgument& error) {
  const std::string text = error.what();
  if (lines_in(text).size() > 1) return "buffer in flight";  // the other place is the operation's
  if (contains(text, "negative color")) return "null communicator";
  if (!contains(text, "does not exist")) return "argument";
  return is_message(error.op()) ? "bad peer" : "bad root";
}

std::string kind_of(const std::exception_ptr& error) {
  if (const auto it = error_as<DeadlockError>(error)) return kind_of_deadlock(*it);
  if (const auto it = error_as<CollectiveMismatch>(error)) return kind_of_mismatch(it->what());
  if (error_as<MessageMismatch>(error)) return "datatype mismatch";  // sizes agree everywhere
  if (error_as<BufferReused>(error)) return "buffer in flight";
  if (const auto it = error_as<InvalidArgument>(error)) return kind_of_argument(*it);
  if (const auto it = error_as<UnreceivedMessage>(error)) {
    // The call that made the request; of a message without one, "send" or "recv".
    return it->op() == "send" || it->op() == "recv" ? "call mismatch" : "missing wait";
  }
  return "another error";
}

}  // namespace

Finding finding_of(const std::exception_ptr& error) {
  Finding finding;
  if (error == nullptr) return finding;
  finding.kind = kind_of(error);
  finding.text = what_of(error);
  finding.named = lines_in(finding.text);
  const auto known = error_as<Error>(error);
  if (known && is_file(known->file(), "programs.cc")) finding.line = known->line();
  return finding;
}

}  // namespace rankbox::testing
