// Layouts of submissions.
#include "cli/grade/submissions.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comm/errors.h"
#include "files/temporary_folder.h"

namespace rankbox::cli {
namespace {

namespace fs = std::filesystem;

using Files = std::map<std::string, std::string>;  // [name] text

/// A folder with these files.
class Folder {
 public:
  explicit Folder(const Files& files) {
    for (const auto& [name, text] : files) {
      const fs::path path = this->path() + "/" + name;
      fs::create_directories(path.parent_path());
      std::ofstream(path) << text;
    }
  }
  std::string path() const { return temporary_.path("class"); }

 private:
  TemporaryFolder temporary_;
};

/// Returns "ada: broadcast_tree=sub/broadcast_tree.cc …", with paths below the folder.
std::set<std::string> found(const Folder& folder, const std::string& layout) {
  std::set<std::string> all;
  for (const Student& student : find_submissions(folder.path(), layout)) {
    std::string line = student.name + ":";
    for (const SubmittedFile& file : student.files) {
      line += " " + file.exercise + "=" +
              fs::path(file.path).lexically_relative(folder.path()).string();
    }
    all.insert(line);
  }
  return all;
}

bool has_line(const std::vector<std::string>& lines, const std::string& part) {
  return std::ranges::any_of(
      lines, [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

/// Drops what lets a superuser read every folder, for the rest of this process.
void obey_permissions() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  syscall(SYS_capset, &header, none);
}

}  // namespace

TEST_CASE("each layout names students and exercises") {
  struct Row {
    const char* layout;
    Files files;
    std::set<std::string> students;
  };
  const std::vector<Row> rows = {
      {"folders",
       {{"ada/broadcast_tree.cc", ""}, {"bob/deep/er/reduce_tree.cc", ""}, {"bob/notes.txt", ""}},
       {"ada: broadcast_tree=ada/broadcast_tree.cc",
        "bob: reduce_tree=bob/deep/er/reduce_tree.cc"}},
      // A clone of the project has a file of this name in solutions/ and tests/ too.
      {"folders",
       {{"ada/exercises/02_broadcast/broadcast_tree.cc", ""},
        {"ada/broadcast_tree.cc", ""},
        {"ada/solutions/02_broadcast/broadcast_tree.cc", ""},
        {"ada/solutions/02_broadcast/broadcast_ring.cc", ""},
        {"ada/.git/broadcast_ring.cc", ""},
        {"ada/.broadcast_ring.cc", ""}},
       {"ada: broadcast_tree=ada/exercises/02_broadcast/broadcast_tree.cc"}},
      {"folders", {{"ada/nothing.txt", ""}, {".hidden/race.cc", ""}}, {"ada:"}},
      {"folders",
       {{"ada/race.cc", ""}, {"__MACOSX/ada/._race.cc", ""}, {"__MACOSX/x.cc", ""}},
       {"ada: race=ada/race.cc"}},
      // A clone has other files of exercises' names; those of the project are not the student's.
      {"folders",
       {{"ada/clone/exercises/registry.toml", ""},
        {"ada/clone/cli/BUILD.bazel", ""},
        {"ada/clone/cli/race/race.cc", ""},
        {"ada/clone/mine/exchange.cc", ""}},
       {"ada: exchange=ada/clone/mine/exchange.cc"}},
      {"single",
       {{"race.cc", ""}, {"a/exchange.cpp", ""}},
       {"class: exchange=a/exchange.cpp race=race.cc"}},
      {"flat",
       {{"ada__race.cc", ""}, {"ada__exchange.cc", ""}, {"van__der__race.cc", ""}, {"race.cc", ""}},
       {"ada: exchange=ada__exchange.cc race=ada__race.cc", "van__der: race=van__der__race.cc"}},
      {"canvas",
       {{"lovelaceada_12_345_broadcast_tree.cc", ""},
        {"lovelaceada_12_345_broadcast_tree-1.cc", ""},
        {"lovelaceada_12_346_broadcast_tree-2.cc", ""},
        {"hopper_LATE_13_9_race.cc", ""}},
       {"lovelaceada: broadcast_tree=lovelaceada_12_346_broadcast_tree-2.cc",
        "hopper: race=hopper_LATE_13_9_race.cc"}},
      {"gradescope",
       {{"submission_1/race.cc", ""},
        {"submission_2/race.cc", ""},
        {"submission_metadata.yml",
         "---\nsubmission_1:\n  :submitters:\n  - :name: Ada Lovelace\n    :sid: '0042'\n"
         "    :email: ada@x.org\n  - :name: \"Bob\"\n    :email: bob@x.org\n"
         "  :created_at: 2026-11-22 10:00:00.5 Z\n  :score: 1.0\nother:\n  - :name: Eve\n"}},
       {"Ada Lovelace, Bob: race=submission_1/race.cc", "submission_2: race=submission_2/race.cc"}},
  };
  for (const Row& row : rows) {
    INFO(row.layout);
    const Folder folder(row.files);
    CHECK(found(folder, row.layout) == row.students);
  }
}

TEST_CASE("Gradescope's metadata gives numbers, addresses and times") {
  const Folder folder(
      Files{{"submission_1/race.cc", ""},
            {"submission_metadata.yml",
             "submission_1:\n  :submitters:\n  - :name: Ada\n    :sid: '0042'\n"
             "    :email: ada@x.org\n  :created_at: 2026-11-22 10:00:00.5 +0200\n"}});
  const Student student = find_submissions(folder.path(), "gradescope").at(0);
  CHECK(student.id == "submission_1");
  CHECK(student.number == "0042");
  CHECK(student.email == "ada@x.org");
  CHECK(student.files.at(0).time == 1795334400);
}

TEST_CASE("quoted, folded and escaped names are read as YAML says, and no YAML is a mistake") {
  const auto name_of = [](const std::string& yaml) {
    const Folder folder(Files{{"s/race.cc", ""}, {"submission_metadata.yml", yaml}});
    return find_submissions(folder.path(), "gradescope").at(0).name;
  };
  const std::string begin = "s:\n  :submitters:\n  - :name: ";
  CHECK(name_of(begin + "'O''Brien'\n") == "O'Brien");
  CHECK(name_of(begin + "\"Zo\\u00eb \\\"Z\\\" L\"\n") == "Zoë \"Z\" L");
  CHECK(name_of(begin + "|\n      Ada\n      Lovelace\n") == "Ada\\x0aLovelace\\x0a");
  CHECK(name_of("s: [1, 2]\n") == "s");
  CHECK(name_of("s:\n  :submitters: none\n") == "s");
  CHECK(name_of("s:\n  :submitters: {:name: Ada}\n") == "s");
  std::string aliases = "s:\n  :submitters:\n  - &a\n    :name: " + std::string(500, 'x') + "\n";
  for (int i = 0; i < 1000; ++i) aliases += "  - *a\n";
  CHECK(name_of(aliases).size() < 2100);
  for (const std::string& bad :
       {std::string("s: b: c\n"), std::string("s: [1, 2\n"), std::string(100'000, '[')})
    CHECK_THROWS_AS(name_of(bad), InvalidArgument);
}

TEST_CASE("Gradescope's time counts without submitters, and one that is too long is none") {
  const auto time_of = [](const std::string& yaml) {
    const Folder folder(Files{{"s/race.cc", ""}, {"submission_metadata.yml", yaml}});
    return find_submissions(folder.path(), "gradescope").at(0).files.at(0).time;
  };
  const std::string time = "  :created_at: 2026-11-22 10:00:00.5 +0200";
  CHECK(time_of("s:\n" + time + "\n") == 1795334400);
  CHECK(time_of("s:\n  :submitters: none\n" + time + "\n") == 1795334400);
  const std::string digits(200'000, '1');
  CHECK(time_of("s:\n  :created_at: '2026-11-22 10:00:00." + digits + "'\n") != 1795334400);
}

TEST_CASE("a number that two submissions have is remarked upon") {
  const Folder folder(Files{{"ada_12_8_race.cc", ""}, {"adam_12_9_race.cc", ""}});
  const auto students = find_submissions(folder.path(), "canvas");
  CHECK(students.at(0).remarks.empty());
  CHECK(has_line(students.at(1).remarks, "ada_12 has the number 12, too"));
}

TEST_CASE("Canvas's mark of late files is kept") {
  const Folder folder(Files{{"hopper_LATE_13_9_race.cc", ""}, {"ada_12_8_race.cc", ""}});
  const auto students = find_submissions(folder.path(), "canvas");
  CHECK_FALSE(students.at(0).files.at(0).is_late);
  CHECK(students.at(1).files.at(0).is_late);
}

TEST_CASE("files that may be meant for an exercise, and belong to no student, are named") {
  const Files files = {{"ada/race.cxx", ""},     {"ada/exchange.cc.txt", ""},
                       {"ada/Ping_Pong.cc", ""}, {"ada/.race.cc", ""},
                       {"ada/notes.txt", ""},    {"race.cc", ""},
                       {"ada/._exchange.cc", ""}};
  const Folder folder(files);
  std::vector<std::string> left_out;
  const Student student = find_submissions(folder.path(), "folders", &left_out).at(0);
  const auto names = [](const std::vector<std::string>& lines, const char* name) {
    return std::ranges::count_if(lines,
                                 [&](const std::string& line) { return line.starts_with(name); });
  };
  CHECK(student.files.empty());
  CHECK(student.remarks.size() == 4);
  for (const char* name : {"race.cxx", "exchange.cc.txt", "Ping_Pong.cc", ".race.cc"})
    CHECK(names(student.remarks, name) == 1);
  CHECK(left_out.size() == 1);
  CHECK(names(left_out, "race.cc") == 1);
  left_out.clear();
  const Folder flat(Files{{"ada__race.cc", ""},
                          {"race.cc", ""},
                          {"ada__exchange.cxx", ""},
                          {"bob__race.cc.txt", ""},
                          {"bob__notes.txt", ""}});
  find_submissions(flat.path(), "flat", &left_out);
  CHECK(left_out.size() == 3);
  for (const char* name : {"race.cc", "ada__exchange.cxx", "bob__race.cc.txt"})
    CHECK(names(left_out, name) == 1);
}

TEST_CASE("names in capitals, hidden ones and archives are named") {
  const Folder folder(Files{{"ada/Race.CC", ""},
                            {"ada/exchange.Cpp", ""},
                            {"ada/work.tar.gz", ""},
                            {".bob/race.cc", ""},
                            {".race.cc", ""},
                            {".git/config", ""},
                            {"Exchange.CXX", ""},
                            {"eve.zip", ""},
                            {"zoe.ZIP", ""}});
  std::vector<std::string> left_out;
  const auto students = find_submissions(folder.path(), "folders", &left_out);
  REQUIRE(students.size() == 1);
  CHECK(students[0].remarks.size() == 3);
  for (const char* part : {"Race.CC is no C++", "exchange.Cpp is no C++", "work.tar.gz is packed"})
    CHECK(has_line(students[0].remarks, part));
  CHECK(left_out.size() == 4);
  for (const char* part : {"eve.zip and 1 more are packed", ".bob is hidden", ".race.cc is hidden",
                           "Exchange.CXX is not graded"})
    CHECK(has_line(left_out, part));

  const Folder packed(Files{{"eve.zip", ""}});
  CHECK_THROWS_WITH_AS(find_submissions(packed.path(), "folders"),
                       doctest::Contains("eve.zip is packed: unpack it"), InvalidArgument);
}

TEST_CASE("names without the number that Canvas gives are named") {
  const Folder folder(
      Files{{"ada_12_8_race.cc", ""}, {"bob_race.cc", ""}, {"eve_race.cc.txt", ""}});
  std::vector<std::string> left_out;
  find_submissions(folder.path(), "canvas", &left_out);
  CHECK(left_out.size() == 2);
  for (const char* part : {"bob_race.cc is not graded", "eve_race.cc.txt is not graded"})
    CHECK(has_line(left_out, part));
}

TEST_CASE("each student has remarks, own files do not displace them, and the rest is counted") {
  Files files = {{"ada/race.cc", ""}, {"ada/z/race.cc", ""}, {"bob/race.cxx", ""}};
  for (int i = 0; i < 40; ++i) files["ada/a" + std::to_string(i) + ".cc"] = "";
  for (int i = 0; i < 40; ++i) files["b" + std::to_string(i) + ".cc"] = "";
  const Folder folder(files);
  std::vector<std::string> left_out;
  const auto students = find_submissions(folder.path(), "folders", &left_out);
  CHECK(students.at(0).remarks.size() == 20);
  CHECK(has_line(students[0].remarks, "z/race.cc is not graded"));
  CHECK(students[0].more_remarks == 21);
  auto remarks = students[0].remarks;
  remarks.insert(remarks.begin(), "one more");
  remarks = shortened(remarks, students[0].more_remarks);
  CHECK(remarks.size() == 21);
  CHECK(remarks.front() == "one more");
  CHECK(remarks.back() == "… and 22 more");
  CHECK(students.at(1).remarks.size() == 1);
  CHECK(left_out.back() == "… and 20 more");
}

TEST_CASE("a folder that cannot be read is one line, and stops nothing") {
  const Folder folder(Files{{"ada/race.cc", ""}, {"bob/race.cc", ""}, {"bob/sub/exchange.cc", ""}});
  for (const char* closed : {"/ada", "/bob/sub"})
    fs::permissions(folder.path() + closed, fs::perms::none);
  const pid_t child = fork();
  if (child == 0) {
    obey_permissions();
    const auto students = find_submissions(folder.path(), "folders");
    const bool is_right = students.size() == 2 && students[0].remarks.size() == 1 &&
                          has_line(students[0].remarks, "ada: Permission denied") &&
                          students[1].files.size() == 1 && students[1].remarks.size() == 1 &&
                          has_line(students[1].remarks, "bob/sub: Permission denied");
    _exit(is_right ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  for (const char* closed : {"/ada", "/bob/sub"})
    fs::permissions(folder.path() + closed, fs::perms::owner_all);
}

TEST_CASE("a name is one line, whatever it holds") {
  const Folder folder(Files{{"a\nb\tc\033/race.cc", ""}});
  const Student student = find_submissions(folder.path(), "folders").at(0);
  CHECK(student.name == "a\\x0ab\\x09c\\x1b");
}

TEST_CASE("what is not graded is remarked upon") {
  const Folder folder(
      {{"ada/broadcast_tere.cc", ""}, {"ada/race.cc", ""}, {"ada/old/race.cc", ""}});
  const Student student = find_submissions(folder.path(), "folders").at(0);
  CHECK(student.files.size() == 1);
  REQUIRE(student.remarks.size() == 2);
  CHECK(student.remarks[1].find("broadcast_tere.cc") != std::string::npos);
  CHECK(student.remarks[0].find("old/race.cc") != std::string::npos);
}

TEST_CASE("a name that resembles an exercise's is a miss; a clone's own files are none") {
  const Folder folder(Files{{"ada/ping_pong (1).cc", ""},
                            {"bob/pingpong.cc", ""},
                            {"cleo/rankbox/exercises/registry.toml", ""},
                            {"cleo/rankbox/exercises/registry.cc", ""},
                            {"cleo/rankbox/exercises/01_ranks_and_races/mine.cc", ""},
                            {"cleo/rankbox/more/other.cc", ""}});
  const auto students = find_submissions(folder.path(), "folders");
  CHECK(students.at(1).near_misses.contains("ping_pong"));
  CHECK(has_line(students.at(1).remarks, "pingpong.cc has not quite an exercise's name"));
  const std::vector<std::string>& remarks = students.at(2).remarks;
  CHECK((remarks.size() == 2 && has_line(remarks, "mine.cc") && has_line(remarks, "other.cc")));
}

TEST_CASE("no work is passed over in silence: in folders that a clone has, hidden, deep or many") {
  std::string deep = "deep";
  for (int i = 0; i < 14; ++i) deep += "/" + std::to_string(i);
  Files files = {{"ada/build/race.cc", ""},       {"ada/solutions/exchange.cc", ""},
                 {"bob/.work/race.cc", ""},       {"clone/exercises/registry.toml", ""},
                 {"clone/solutions/race.cc", ""}, {"deep/exchange.cc", ""},
                 {deep + "/race.cc", ""}};
  const Folder folder(files);
  fs::create_directory_symlink(folder.path() + "/ada", folder.path() + "/eve");
  std::vector<std::string> left_out;
  const auto students = find_submissions(folder.path(), "folders", &left_out);
  REQUIRE(students.size() == 4);
  CHECK(students[0].files.empty());
  CHECK(has_line(students[0].remarks, "build is not looked at"));
  CHECK(has_line(students[0].remarks, "solutions is not looked at"));
  CHECK(students[1].files.empty());
  CHECK(has_line(students[1].remarks, ".work is not looked at"));
  CHECK(students[2].files.empty());
  CHECK(students[2].remarks.empty());
  CHECK(students[3].files.size() == 1);
  CHECK(has_line(students[3].remarks, "too deep"));
  CHECK(has_line(left_out, "eve is a link"));

  const Folder flat({{"ada__race.cc", ""}, {"more/bob__race.cc", ""}});
  left_out.clear();
  CHECK(find_submissions(flat.path(), "flat", &left_out).size() == 1);
  CHECK(has_line(left_out, "more is a folder"));
}

TEST_CASE("that a student has more files than are looked at is remarked upon") {
  Files files;
  for (int i = 0; i < 20'001; ++i) files[fmt::format("ada/{}", i)] = "";
  const Folder folder(files);
  CHECK(has_line(find_submissions(folder.path(), "folders").at(0).remarks, "only the first 20000"));
}

TEST_CASE("Gradescope's metadata that cannot be read is a mistake, and none is not") {
  const Folder folder(Files{{"submission_1/race.cc", ""}});
  CHECK(find_submissions(folder.path(), "gradescope").size() == 1);
  fs::create_symlink("nowhere", folder.path() + "/submission_metadata.yml");
  CHECK_THROWS_AS(find_submissions(folder.path(), "gradescope"), InvalidArgument);
}

TEST_CASE("a folder without submissions is a mistake") {
  const Folder folder(Files{{"race.cc", ""}});
  CHECK_THROWS_AS(find_submissions(folder.path() + "/nowhere", "folders"), InvalidArgument);
  CHECK_THROWS_AS(find_submissions(folder.path() + "/race.cc", "folders"), InvalidArgument);
  for (const char* layout : {"folders", "flat", "canvas", "gradescope"})
    CHECK_THROWS_AS(find_submissions(folder.path(), layout), InvalidArgument);
}

TEST_CASE("links in a circle and files of part of a clone stop nothing") {
  const Folder folder(Files{{"ada/race.cc", ""},
                            {"ada/other/notes.txt", ""},
                            {"ada/exercises/broadcast_tere.cc", ""},
                            {"bob/race.cc", ""}});
  fs::create_symlink("registry.toml", folder.path() + "/ada/exercises/registry.toml");
  const auto students = find_submissions(folder.path(), "folders");
  REQUIRE(students.size() == 2);
  CHECK(students[0].files.size() == 1);
  CHECK(students[0].remarks.size() == 1);  // a misspelt name
}

TEST_CASE("links are listed, and folders behind links are not entered") {
  const Folder folder(Files{{"ada/notes.txt", ""}, {"bob/sub/race.cc", ""}});
  fs::create_symlink(folder.path() + "/bob/sub/race.cc", folder.path() + "/ada/exchange.cc");
  fs::create_directory_symlink(folder.path() + "/bob/sub", folder.path() + "/ada/sub");
  const auto students = find_submissions(folder.path(), "folders");
  REQUIRE(students.at(0).files.size() == 1);
  CHECK(students[0].files[0].exercise == "exchange");
}

}  // namespace rankbox::cli
