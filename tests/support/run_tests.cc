#include "tests/support/run_tests.h"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>

#include <unistd.h>

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "judge/visible_text.h"

namespace rankbox::testing {
namespace {

struct State {
  std::string filter;  // of rows; empty: all
  std::string xml;     // where to write test.xml; empty: nowhere
  std::string running;
  bool ended = true;
  bool passed_over = false;      // the running test case
  bool row_passed_over = false;  // the running row of it
  bool entered_a_row = false;
  int failures = 0;
  doctest::Context* context = nullptr;  // while it runs
};
State state;

/// What doctest's reporter of JUnit's XML writes to, constructed before it.
struct XmlText {
  explicit XmlText(const doctest::ContextOptions& given) : options(given) { options.cout = &text; }

  std::ostringstream text;
  doctest::ContextOptions options;
};

/// Detects test cases without a check: a loop over an empty table, a callback that was never
/// called. Writes test.xml, with a case per row.
struct Listener : private XmlText, doctest::JUnitReporter {
  explicit Listener(const doctest::ContextOptions& given)
      : XmlText(given), JUnitReporter(options), out(*given.cout) {}

  void test_case_start(const doctest::TestCaseData& data) override {
    JUnitReporter::test_case_start(data);
    running = &data;
    state.passed_over = state.row_passed_over = false;
  }
  void test_case_reenter(const doctest::TestCaseData& data) override {
    JUnitReporter::test_case_reenter(data);
    leave_out_if_passed_over(testCaseData.testcases.size() - 2);
  }
  void log_message(const doctest::MessageData& message) override {
    if ((message.m_severity & doctest::assertType::is_warn) != 0) return;
    add_failure(message.m_file, message.m_line, message.m_string.c_str());
  }
  void test_case_exception(const doctest::TestCaseException& exception) override {
    JUnitReporter::test_case_exception(exception);
    if (exception.is_crash && !state.running.empty())
      out << "ERROR: it was running " << state.running << "\n";
  }
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    // If only some rows were selected, a test case may be empty.
    if (stats.numAssertsCurrentTest == 0 && stats.failure_flags == 0 && !state.passed_over &&
        state.filter.empty()) {
      ++state.failures;
      const std::string what = std::string("\"") + running->m_name +
                               "\" checked nothing; if it does not apply here, call pass_over()";
      out << running->m_file.c_str() << ":" << running->m_line << ": ERROR: " << what << "\n";
      add_failure(running->m_file.c_str(), static_cast<int>(running->m_line), what);
    }
    JUnitReporter::test_case_end(stats);
    leave_out_if_passed_over(testCaseData.testcases.size() - 1);
  }
  void test_run_end(const doctest::TestRunStats& stats) override {
    if (stats.numTestCasesPassingFilters == 0) {
      ++state.failures;
      out << "ERROR: no test case matches\n";
    } else if (!state.filter.empty() && !state.entered_a_row) {
      ++state.failures;
      out << "ERROR: no row is called \"" << state.filter << "\"\n";
    }
    doctest::TestRunStats counted = stats;
    counted.numAsserts = static_cast<int>(testCaseData.testcases.size());  // the number of tests
    JUnitReporter::test_run_end(counted);
    // doctest leaves characters that XML forbids.
    if (!state.xml.empty()) std::ofstream(state.xml) << visible_text(text.str());
  }

  /// Leaves a row out of test.xml, where it would count as one that passed.
  void leave_out_if_passed_over(std::size_t row) {
    auto& rows = testCaseData.testcases;
    if (state.row_passed_over && rows[row].failures.empty() && rows[row].errors.empty())
      rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(row));
    state.row_passed_over = false;
  }

  void add_failure(const char* file, int line_number, const std::string& message) {
    std::ostringstream place;
    place << file << ":" << line_number << ": " << message << "\n";
    testCaseData.addFailure(message.substr(0, message.find('\n')), "failure", place.str());
  }

  std::ostream& out;
  const doctest::TestCaseData* running = nullptr;
};
REGISTER_LISTENER("listener", 1, Listener);

/// Returns the row filter: --test_filter, which Bazel puts into a variable, or else --row.
std::string filter_of_rows(int argc, char** argv) {
  if (const char* asked = std::getenv("TESTBRIDGE_TEST_ONLY")) return asked;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i], option = "--row=";
    if (argument.starts_with(option)) return std::string(argument.substr(option.size()));
  }
  return "";
}

/// With RANKBOX_CASES_ROTATE=1, leaves out the test cases of other commits' thirds: the cases of a
/// file are the rows of its table.
void leave_out_other_thirds() {
  const char* const rotate = std::getenv("RANKBOX_CASES_ROTATE");
  if (rotate == nullptr || std::string_view(rotate) != "1") return;
  std::map<std::string, std::map<unsigned, const char*>> names;  // by file and line
  for (const auto& test : doctest::detail::getRegisteredTests())
    names[test.m_file.c_str()][test.m_line] = test.m_name;
  for (const auto& [file, cases] : names) {
    std::size_t row = 0;
    for (const auto& [line, name] : cases) {
      if (!is_to_run(row++)) leave_out(name);
    }
  }
}

/// A tested function that calls exit(0) must not look like a test that passed.
void refuse_early_exit() {
  if (state.ended) return;
  std::printf("ERROR: exit() was called while running %s\n",
              state.running.empty() ? "the tests" : state.running.c_str());
  std::fflush(stdout);
  _exit(1);
}

}  // namespace

int run_tests(int argc, char** argv, std::ostream* out) {
  [[maybe_unused]] static const int registered = std::atexit(refuse_early_exit);
  state = {};
  state.filter = filter_of_rows(argc, argv);
  const char* xml = std::getenv("XML_OUTPUT_FILE");
  if (xml != nullptr && out == nullptr) state.xml = xml;
  doctest::Context context(argc, argv);
  if (out != nullptr) context.setCout(out);
  state.ended = false;
  state.context = &context;
  leave_out_other_thirds();
  const int status = context.run();
  state.context = nullptr;
  state.ended = true;
  return status != 0 ? status : state.failures > 0 ? 1 : 0;
}

bool wants_row(const std::string& name) {
  const bool wants =
      state.filter.empty() || doctest::wildcmp(name.c_str(), state.filter.c_str(), true) != 0;
  state.entered_a_row = state.entered_a_row || wants;
  return wants;
}

void leave_out(const std::string& pattern) {
  std::string escaped;  // doctest splits filters at commas
  for (const char c : pattern) escaped += c == ',' ? "\\," : std::string(1, c);
  state.context->addFilter("test-case-exclude", escaped.c_str());
}

void now_running(const std::string& what) { state.running = what; }

void pass_over(const std::string& why) {
  if (!state.passed_over) MESSAGE("passed over: ", why);
  state.passed_over = state.row_passed_over = true;
}

void pass_over_without_containers(const std::string& problem) {
  const char* required = std::getenv("RANKBOX_REQUIRE_CONTAINER");
  if (required != nullptr && std::string_view(required) == "1")
    FAIL_CHECK("RANKBOX_REQUIRE_CONTAINER=1: ", problem);
  else
    pass_over(problem);
}

bool runs_a_third() {
  const char* third = std::getenv("RANKBOX_THIRD");
  return third != nullptr && *third >= '0' && *third <= '2';
}

int third() { return runs_a_third() ? *std::getenv("RANKBOX_THIRD") - '0' : 0; }

bool is_to_run(std::size_t row) {
  if (runs_a_third()) {
    if (row % 3 != static_cast<std::size_t>(third())) return false;
    row /= 3;
  }
  const char* const shards = std::getenv("TEST_TOTAL_SHARDS");
  const char* const mine = std::getenv("TEST_SHARD_INDEX");
  if (shards == nullptr || mine == nullptr) return true;
  // Tells Bazel that the shards differ.
  if (const char* file = std::getenv("TEST_SHARD_STATUS_FILE")) std::ofstream{file};
  return row % std::stoul(shards) == std::stoul(mine);
}

int skip_all(const std::string& why) {
  const char* required = std::getenv("RANKBOX_REQUIRE_GPU");
  const bool may_skip = required == nullptr || std::string_view(required) != "1";
  std::printf("%s: %s\n", may_skip ? "skipped" : "ERROR: RANKBOX_REQUIRE_GPU=1", why.c_str());
  return may_skip ? 0 : 1;
}

}  // namespace rankbox::testing
