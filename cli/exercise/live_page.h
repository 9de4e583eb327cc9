// The live page of `watch`: what it shows after a save, as JSON.
//
//   {"version": 3,                      one higher with every state
//    "busy": "broadcast_ring",          what is being checked; "" if nothing is
//    "exercise": {"name", "summary", "difficulty", "file", "contract", "chapter", "title"},
//    "status": "pass",                  of ./rankbox list
//    "problem": "…",                    why there is no verdict; "" if there is one, or none is due
//    "verdict": {…},                    verdict_json.h; null before the first save
//    "compiler": "…", "printed": "…",   what the compiler and the learner's code printed
//    "promise": "…",                    the promised cost of a typical case; "" if none is stated
//    "prediction": {"text": "7 7", "answer": "…"},  "": not predicted; not yet to be answered
//    "next": "…", "solution": "…",      what to try next, and our answer; "" until it passes
//    "run": 3,                          its picture is new with this version; 0: there is none
//    "progress": [{"folder", "number", "title", "exercises": [{"name", "status"}]}]}
#pragma once

#include <cstdint>
#include <string>

#include "cli/exercise/grade.h"
#include "cli/page/server.h"
#include "files/temporary_folder.h"
#include "verdict/catalog.h"

namespace rankbox::cli {

class LivePage {
 public:
  /// Serves the page, with this exercise on it. Throws InvalidArgument if the port is taken.
  LivePage(int port, const Exercise& first);

  std::string address() const { return server_.address(); }
  /// Returns the folder for GradeOptions::page_folder. It is empty while the page shows `busy`.
  std::string run_folder() const { return folder_.path(""); }

  void show_busy(const Exercise& exercise);
  void show(const Exercise& exercise, const Grade& graded);
  /// Shows that a save brought no verdict, for no fault of the learner.
  void show_problem(const Exercise& exercise, const std::string& problem);

 private:
  void send(const Exercise& exercise, const Grade* graded, const std::string& problem);

  TemporaryFolder folder_;
  PageServer server_;
  std::string state_;
  std::int64_t version_ = 0;
};

}  // namespace rankbox::cli
