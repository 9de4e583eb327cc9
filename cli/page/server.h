// The server of the live page: one page and what it shows, for a browser on this machine.
//
//   GET /TOKEN/         the page
//   GET /TOKEN/events   server-sent events: the state, and again whenever it changes
//   GET /TOKEN/run      the picture of the last run, as a separate page
//
// It listens on 127.0.0.1 alone. Whatever lacks the token, or comes from another site (by its Host
// or Origin), gets 403; nothing but GET is answered. The token is random: 128 bits.
#pragma once

#include <memory>
#include <string>

namespace rankbox::cli {

class PageServer {
 public:
  /// Serves from now on, in threads of its own, which no signal interrupts.
  /// @param port 0: a free one. Throws InvalidArgument if it is taken
  explicit PageServer(int port);
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;
  /// Ends all connections.
  ~PageServer();

  /// Returns "http://127.0.0.1:PORT/TOKEN/".
  std::string address() const;

  /// Shows a state: one line of JSON, as cli/page/page/main.js reads it.
  void show(std::string state);
  /// Sets what `run` returns: the page of a run (viewer/html.h). Call it before the state that
  /// announces it.
  /// @param policy its Content-Security-Policy: a program that is graded may have written the page
  void set_run(std::string html, const std::string& policy);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rankbox::cli
