#pragma once

#include <cstddef>
#include <string_view>

namespace gemmtune::app {

// Of a connected stream socket; false where the other end is closed, or on any other failure.
// Signals do not end them, and a closed end raises none.
bool send_all(int socket, std::string_view bytes);
bool receive_all(int socket, char* to, size_t size);

}  // namespace gemmtune::app
