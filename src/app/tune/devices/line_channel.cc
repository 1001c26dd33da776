#include "app/tune/devices/line_channel.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "app/common/socket.h"

namespace gemmtune::app {
namespace {

using Buffer = std::array<char, 16384>;

// recv() that goes on after a signal.
ssize_t receive(int descriptor, Buffer& buffer, int flags) {
  ssize_t count = 0;
  do {
    count = ::recv(descriptor, buffer.data(), buffer.size(), flags);
  } while (count < 0 && errno == EINTR);
  return count;
}

}  // namespace

bool LineChannel::send(std::string_view line) const {
  return send_all(descriptor_.get(), std::string(line) + '\n');
}

void LineChannel::close() const {
  ::shutdown(descriptor_.get(), SHUT_RDWR);
}

std::optional<std::string> LineChannel::buffered_line() {
  const size_t end = received_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  return line;
}

std::optional<std::string> LineChannel::wait_for_line() {
  Buffer buffer;
  while (true) {
    if (auto line = buffered_line()) return line;
    const ssize_t count = receive(descriptor_.get(), buffer, 0);
    if (count <= 0) return std::nullopt;
    received_.append(buffer.data(), static_cast<size_t>(count));
  }
}

bool LineChannel::take_lines(std::vector<std::string>& lines) {
  Buffer buffer;
  ssize_t count = 0;
  while ((count = receive(descriptor_.get(), buffer, MSG_DONTWAIT)) > 0)
    received_.append(buffer.data(), static_cast<size_t>(count));
  const bool open = count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  while (auto line = buffered_line()) lines.push_back(*std::move(line));
  return open;
}

}  // namespace gemmtune::app
