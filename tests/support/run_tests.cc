#include "tests/support/run_tests.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

namespace rankbox::testing {
namespace {

struct State {
  std::string filter;  // of rows; empty: all
  bool passed_over = false;
  bool entered_a_row = false;
  int failures = 0;
};
State state;

/// Detects test cases without a check: a loop over an empty table, a callback that was never
/// called.
struct FindsEmptyCases : doctest::IReporter {
  explicit FindsEmptyCases(const doctest::ContextOptions& options) : out(*options.cout) {}

  void test_case_start(const doctest::TestCaseData& data) override {
    running = &data;
    state.passed_over = false;
  }
  void subcase_start(const doctest::SubcaseSignature&) override { state.entered_a_row = true; }
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    // If only some rows were selected, a test case may be empty.
    if (stats.numAssertsCurrentTest > 0 || state.passed_over || !state.filter.empty()) return;
    ++state.failures;
    out << running->m_file.c_str() << ":" << running->m_line << ": ERROR: \"" << running->m_name
        << "\" checked nothing; if it does not apply here, call pass_over()\n";
  }
  void test_run_end(const doctest::TestRunStats& stats) override {
    if (stats.numTestCasesPassingFilters == 0) {
      ++state.failures;
      out << "ERROR: no test case matches\n";
    } else if (!state.filter.empty() && !state.entered_a_row) {
      ++state.failures;
      out << "ERROR: no row is called \"" << state.filter << "\"\n";
    }
  }

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

  std::ostream& out;
  const doctest::TestCaseData* running = nullptr;
};
REGISTER_LISTENER("finds_empty_cases", 1, FindsEmptyCases);

/// Returns the row filter: --test_filter, which Bazel puts into a variable, or else --subcase.
std::string filter_of_rows(int argc, char** argv) {
  if (const char* asked = std::getenv("TESTBRIDGE_TEST_ONLY")) return asked;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    for (const std::string_view option : {"--subcase=", "--dt-subcase=", "-sc=", "--dt-sc="})
      if (argument.starts_with(option)) return std::string(argument.substr(option.size()));
  }
  return "";
}

}  // namespace

int run_tests(int argc, char** argv, std::ostream* out) {
  state = {};
  state.filter = filter_of_rows(argc, argv);
  doctest::Context context(argc, argv);
  if (out != nullptr) context.setCout(out);
  if (!state.filter.empty()) context.addFilter("subcase", state.filter.c_str());
  const int status = context.run();
  return status != 0 ? status : state.failures > 0 ? 1 : 0;
}

bool wants_row(const std::string& name) {
  const bool wants =
      state.filter.empty() || doctest::wildcmp(name.c_str(), state.filter.c_str(), true) != 0;
  state.entered_a_row = state.entered_a_row || wants;
  return wants;
}

void pass_over(const std::string& why) {
  if (!state.passed_over) MESSAGE("passed over: ", why);
  state.passed_over = true;
}

int skip_all(const std::string& why) {
  const char* required = std::getenv("RANKBOX_REQUIRE_GPU");
  const bool may_skip = required == nullptr || std::string_view(required) != "1";
  std::printf("%s: %s\n", may_skip ? "skipped" : "ERROR: RANKBOX_REQUIRE_GPU=1", why.c_str());
  return may_skip ? 0 : 1;
}

}  // namespace rankbox::testing
