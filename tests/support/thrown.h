// Inspects exceptions in tests: class, fields, and values in the message.
#pragma once

#include <exception>
#include <optional>
#include <string>

#include "comm/errors.h"
#include "tests/support/text.h"

namespace rankbox::testing {

/// Returns the error as an E, if it is one.
template <class E>
std::optional<E> error_as(const std::exception_ptr& error) {
  if (error == nullptr) return std::nullopt;
  try {
    std::rethrow_exception(error);
  } catch (const E& match) {
    return match;
  } catch (...) {
    return std::nullopt;
  }
}

/// Returns the error's message; "nothing was thrown" for null.
inline std::string what_of(const std::exception_ptr& error) {
  if (error == nullptr) return "nothing was thrown";
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& match) {
    return match.what();
  } catch (...) {
    return "not a std::exception";
  }
}

/// Returns "file:line", in the form of a message.
inline std::string place_of(const Error& error) {
  return error.file() + ":" + std::to_string(error.line());
}

/// Returns the message of the InvalidArgument that call() throws; "" if it throws none.
template <class Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

/// Returns whether a path ends in this file name.
inline bool is_file(const std::string& path, const std::string& name) {
  return path.size() >= name.size() &&
         path.compare(path.size() - name.size(), name.size(), name) == 0;
}

}  // namespace rankbox::testing
