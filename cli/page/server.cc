#include "cli/page/server.h"

#include <array>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <random>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <httplib.h>
#include <pthread.h>
#include <sys/socket.h>

#include "cli/page/page_source.h"
#include "comm/errors.h"
#include "comm/thread_annotations.h"

namespace rankbox::cli {
namespace {

constexpr const char* kHost = "127.0.0.1";
// Every open page occupies a thread. One that was closed is noticed at the next heartbeat.
constexpr std::size_t kThreads = 32;
constexpr auto kHeartbeat = std::chrono::seconds(2);
constexpr time_t kMostSilence = 1;  // seconds

// The live page adds its own policy, with the hashes of its scripts and styles.
constexpr const char* kPagePolicy = "frame-ancestors 'self'";

std::string random_token() {
  std::random_device random;
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", random());
  return token;
}

/// Returns whether the request names this server, comes from its page or an address bar, and knows
/// the token. A page of another site that resolves its own name to 127.0.0.1 fails by its Host.
bool is_allowed(const httplib::Request& request, const std::string& authority,
                const std::string& root) {
  const bool from_here =
      request.get_header_value_count("Host") == 1 && request.get_header_value("Host") == authority;
  const bool from_us = !request.has_header("Origin") ||
                       (request.get_header_value_count("Origin") == 1 &&
                        request.get_header_value("Origin") == "http://" + authority);
  return from_here && from_us && request.path.starts_with(root);
}

void answer(httplib::Response& response, const std::string& page, const std::string& policy) {
  response.set_header("Content-Security-Policy", policy);
  response.set_content(page, "text/html; charset=utf-8");
}

void not_found(httplib::Response& response) { response.status = 404; }

/// Threads that it starts get no signals: those are for the main thread, and a browser that closes
/// a connection must not end this process (SIGPIPE).
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

/// The library ignores SIGPIPE in the whole process; ./rankbox ends by it.
class PipeSignalKept {
 public:
  PipeSignalKept() { sigaction(SIGPIPE, nullptr, &before_); }
  PipeSignalKept(const PipeSignalKept&) = delete;
  PipeSignalKept& operator=(const PipeSignalKept&) = delete;
  ~PipeSignalKept() { sigaction(SIGPIPE, &before_, nullptr); }

 private:
  struct sigaction before_ = {};
};

}  // namespace

struct PageServer::Impl {
  httplib::Server server;
  std::string authority;  // 127.0.0.1:PORT
  std::string root;       // /TOKEN/
  std::thread thread;

  Mutex lock;
  std::condition_variable_any changed;
  std::string state GUARDED_BY(lock) = "{}";
  std::string run GUARDED_BY(lock);
  std::string run_policy GUARDED_BY(lock);
  std::uint64_t version GUARDED_BY(lock) = 1;
  bool is_ending GUARDED_BY(lock) = false;

  void set_up() {
    server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    // Idle and slow connections would delay the end.
    server.set_keep_alive_max_count(1);
    server.set_keep_alive_timeout(kMostSilence);
    server.set_read_timeout(kMostSilence);
    server.set_write_timeout(kMostSilence);
    // Not the library's SO_REUSEPORT, with which two servers share a port.
    server.set_socket_options([](int socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
    server.set_default_headers({{"Cache-Control", "no-store"},
                                {"Cross-Origin-Resource-Policy", "same-origin"},
                                {"Referrer-Policy", "no-referrer"},
                                {"X-Content-Type-Options", "nosniff"}});
    server.set_pre_routing_handler([this](const auto& request, auto& response) {
      using enum httplib::Server::HandlerResponse;
      if (request.method == "GET" && is_allowed(request, authority, root)) return Unhandled;
      response.status = 403;
      response.set_content("open the address that ./rankbox watch --page printed\n", "text/plain");
      return Handled;
    });
  }

  void bind(int port) {
    const int bound = port == 0                          ? server.bind_to_any_port(kHost)
                      : server.bind_to_port(kHost, port) ? port
                                                         : -1;
    if (bound <= 0) {
      throw InvalidArgument(
          fmt::format("--port {}: cannot listen on {}:{}, another program may use it; choose "
                      "another port, or leave --port out for a free one",
                      port, kHost, port));
    }
    authority = fmt::format("{}:{}", kHost, bound);
    root = fmt::format("/{}/", random_token());
  }

  void add_routes() {
    server.Get(root, [](const httplib::Request&, httplib::Response& response) {
      answer(response, std::string(kLivePage), kPagePolicy);
    });
    server.Get(root + "events", [this](const httplib::Request&, httplib::Response& response) {
      response.set_chunked_content_provider(
          "text/event-stream",
          [this, seen = std::uint64_t{0}](std::size_t, httplib::DataSink& sink) mutable {
            return send_next(seen, sink);
          });
    });
    server.Get(root + "run", [this](const httplib::Request&, httplib::Response& response) {
      const Lock guard(lock);
      if (run.empty()) return not_found(response);
      answer(response, run, run_policy);
    });
  }

  /// Sends the state if it is newer than `seen`, else a comment, which tells whether the page is
  /// still there. Returns false if it is not.
  bool send_next(std::uint64_t& seen, httplib::DataSink& sink) {
    std::string text = ": \n\n";
    {
      const Lock guard(lock);
      const auto deadline = std::chrono::steady_clock::now() + kHeartbeat;
      while (!is_ending && version == seen &&
             changed.wait_until(lock, deadline) != std::cv_status::timeout) {
      }
      if (is_ending) {
        sink.done();
        return true;
      }
      if (version != seen) text = "data: " + state + "\n\n";
      seen = version;
    }
    return sink.write(text.data(), text.size());
  }

  void listen() {
    const SignalsBlocked blocked;
    thread = std::thread([this] { server.listen_after_bind(); });
    // Before that, stop() would have no effect.
    while (!server.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  void end() {
    {
      const Lock guard(lock);
      is_ending = true;
    }
    changed.notify_all();
    server.stop();
    thread.join();
  }
};

PageServer::PageServer(int port) {
  const PipeSignalKept kept;
  impl_ = std::make_unique<Impl>();
  impl_->set_up();
  impl_->bind(port);
  impl_->add_routes();
  impl_->listen();
}

PageServer::~PageServer() { impl_->end(); }

std::string PageServer::address() const { return "http://" + impl_->authority + impl_->root; }

void PageServer::show(std::string state) {
  {
    const Lock guard(impl_->lock);
    impl_->state = std::move(state);
    ++impl_->version;
  }
  impl_->changed.notify_all();
}

void PageServer::set_run(std::string html, const std::string& policy) {
  const Lock guard(impl_->lock);
  impl_->run = std::move(html);
  impl_->run_policy = policy + "; " + kPagePolicy;
}

}  // namespace rankbox::cli
