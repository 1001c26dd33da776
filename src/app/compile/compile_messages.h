#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "jit/compile.h"

namespace gemmtune::app {

// What a command and a process that compiles for it tell each other, in this order: the command
// names an NVRTC, the process answers whether it could load that one; from then on a request, and
// its result, as often as wanted. Messages are frames: a size (u64, little-endian) and so many
// bytes. What decodes a message returns nothing for anything that was not encoded as one.

// The NVRTC that the command would compile with itself.
struct CompilerSetup {
  std::string library;  // its path
  uint64_t library_bytes = 0;
};

std::string encode(const CompilerSetup& setup);
std::optional<CompilerSetup> decode_setup(std::string_view bytes);

// What keeps the process from compiling; empty: nothing.
std::string encode_answer(std::string_view failure);
std::optional<std::string> decode_answer(std::string_view bytes);

std::string encode(const jit::CompileRequest& request);
std::optional<jit::CompileRequest> decode_request(std::string_view bytes);

std::string encode(const jit::CompileResult& result);
std::optional<jit::CompileResult> decode_result(std::string_view bytes);

// Sends a frame to the other end of a stream socket. False if that is closed.
bool send_frame(int socket, std::string_view bytes);

// Waits for the next frame; nothing once the other end is closed, or sends what is no frame.
std::optional<std::string> receive_frame(int socket);

}  // namespace gemmtune::app
