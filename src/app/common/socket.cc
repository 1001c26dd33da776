#include "app/common/socket.h"

#include <sys/socket.h>

#include <cerrno>

namespace gemmtune::app {
namespace {

// What `call` does to bytes, until all are done or the other end is closed.
template <class Call>
bool transfer(size_t size, const Call& call) {
  for (size_t done = 0; done < size;) {
    const ssize_t count = call(done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

}  // namespace

bool send_all(int socket, std::string_view bytes) {
  return transfer(bytes.size(), [&](size_t done) {
    return ::send(socket, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
  });
}

bool receive_all(int socket, char* to, size_t size) {
  return transfer(size, [&](size_t done) { return ::recv(socket, to + done, size - done, 0); });
}

}  // namespace gemmtune::app
