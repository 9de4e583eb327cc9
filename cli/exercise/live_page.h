// The live page of `watch`: what it shows after a save, as JSON.
//
//   {"version": 3,                      one higher with every state
//    "busy": "broadcast_ring",          what is being checked; "" if nothing is
//    "exercise": {"name", "summary", "difficulty", "file", "contract", "chapter"},
//    "status": "pass",                  of ./rankbox list
//    "problem": "…",                    why there is no verdict; "" if there is one, or none is due
//    "verdict": {…},                    verdict_json.h; null before the first save
//    "compiler": "…", "printed": "…",   what the compiler and the learner's code printed
//    "promise": "…",                    the promised cost of a typical case; "" if none is stated
//    "prediction": {"text": "7 7", "answer": "…"},  "": not predicted; not yet to be answered
//                                        null: there is nothing to predict
//    "next": "…", "solution": "…",      what to try next, and our answer; "" until it passes
//    "run": 3,                          its picture is new with this version; 0: there is none
//    "progress": [{"number", "title", "exercises": [{"name", "status"}]}]}
#pragma once

#include <functional>
#include <string>

#include "cli/exercise/grade.h"
#include "judge/catalog.h"

namespace rankbox::cli {

/// A page that is served until the last copy of these functions ends.
struct WatchPage {
  std::string address;
  std::string run_folder;  // for GradeOptions::page_folder; empty while the page shows `busy`
  std::function<void(const Exercise&)> show_busy;
  std::function<void(const Exercise&, const Grade&)> show;
  /// Shows that a save brought no verdict, for no fault of the learner.
  std::function<void(const Exercise&, const std::string& problem)> show_problem;
};

/// Serves the page, with this exercise on it. Throws InvalidArgument if the port is taken.
/// @param port 0: a free one
WatchPage open_live_page(int port, const Exercise& first);

}  // namespace rankbox::cli
