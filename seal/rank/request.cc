#include "seal/rank/request.h"

#include <exception>

#include <unistd.h>

#include "comm/error_bytes.h"

namespace rankbox::seal {

namespace {

int the_socket = -1;

Message receive() {
  try {
    return receive_message(the_socket);
  } catch (const ConnectionLost&) {
    _exit(1);
  }
}

}  // namespace

void set_socket(int socket) { the_socket = socket; }

void notify(Kind kind, const std::string& bytes) {
  try {
    send_message(the_socket, kind, bytes);
  } catch (const ConnectionLost&) {
    _exit(1);
  }
}

std::string request(Kind kind, const ByteWriter& arguments) {
  notify(kind, arguments.bytes);
  Message reply = receive();
  if (reply.kind == Kind::kRefused) std::rethrow_exception(error_from_bytes(reply.bytes));
  return std::move(reply.bytes);
}

std::string next_call() { return receive().bytes; }

}  // namespace rankbox::seal
