#include "app/compile/compile_messages.h"

#include <cstring>
#include <utility>

#include "app/common/socket.h"
#include "core/bytes.h"
#include "jit/cache_file.h"

namespace gemmtune::app {
namespace {

// No source or kernel comes near it: a size beyond is no size.
constexpr uint64_t kMostBytes = uint64_t{1} << 30;

void write_texts(ByteWriter& out, const std::vector<std::string>& texts) {
  out.number(static_cast<uint32_t>(texts.size()));
  for (const std::string& text : texts) out.text(text);
}

std::vector<std::string> read_texts(ByteReader& in) {
  std::vector<std::string> texts;
  for (auto left = in.number<uint32_t>(); left > 0 && in.ok(); --left)
    texts.emplace_back(in.text());
  return texts;
}

void write_arch(ByteWriter& out, Arch arch) {
  out.number(static_cast<int32_t>(arch.major));
  out.number(static_cast<int32_t>(arch.minor));
  out.number(static_cast<int32_t>(arch.specific));
}

Arch read_arch(ByteReader& in) {
  Arch arch;
  arch.major = in.number<int32_t>();
  arch.minor = in.number<int32_t>();
  arch.specific = in.number<int32_t>() != 0;
  return arch;
}

}  // namespace

std::string encode(const CompilerSetup& setup) {
  ByteWriter out;
  out.text(setup.library);
  out.number(setup.library_bytes);
  return out.take();
}

std::optional<CompilerSetup> decode_setup(std::string_view bytes) {
  ByteReader in(bytes);
  CompilerSetup setup;
  setup.library = std::string(in.text());
  setup.library_bytes = in.number<uint64_t>();
  return in.at_end() ? std::optional(std::move(setup)) : std::nullopt;
}

std::string encode_answer(std::string_view failure) {
  ByteWriter out;
  out.text(failure);
  return out.take();
}

std::optional<std::string> decode_answer(std::string_view bytes) {
  ByteReader in(bytes);
  std::string failure(in.text());
  return in.at_end() ? std::optional(std::move(failure)) : std::nullopt;
}

std::string encode(const jit::CompileRequest& request) {
  const codegen::KernelSource& source = request.source;
  ByteWriter out;
  write_arch(out, request.arch);
  out.text(source.name);
  out.text(source.text);
  out.number(static_cast<uint32_t>(source.headers.size()));
  for (const codegen::SourceHeader& header : source.headers) {
    out.text(header.name);
    out.text(header.text);
  }
  write_texts(out, source.entries);
  write_texts(out, source.options);
  write_texts(out, request.options);
  return out.take();
}

std::optional<jit::CompileRequest> decode_request(std::string_view bytes) {
  ByteReader in(bytes);
  jit::CompileRequest request;
  request.arch = read_arch(in);
  codegen::KernelSource& source = request.source;
  source.name = std::string(in.text());
  source.text = std::string(in.text());
  for (auto left = in.number<uint32_t>(); left > 0 && in.ok(); --left) {
    std::string name(in.text());
    source.headers.push_back({std::move(name), std::string(in.text())});
  }
  source.entries = read_texts(in);
  source.options = read_texts(in);
  request.options = read_texts(in);
  return in.at_end() ? std::optional(std::move(request)) : std::nullopt;
}

std::string encode(const jit::CompileResult& result) {
  ByteWriter out;
  out.number(static_cast<uint32_t>(result.has_value()));
  if (result) {
    out.text(jit::encode("", *result));
  } else {
    out.number(static_cast<uint32_t>(result.error().phase));
    out.text(result.error().first_error);
    out.text(result.error().log);
  }
  return out.take();
}

std::optional<jit::CompileResult> decode_result(std::string_view bytes) {
  ByteReader in(bytes);
  if (in.number<uint32_t>() != 0) {
    auto kernel = jit::decode_kernel("", in.text());
    if (!kernel || !in.at_end()) return std::nullopt;
    kernel->from_cache = false;
    return *std::move(kernel);
  }
  const auto phase = in.number<uint32_t>();
  if (phase > static_cast<uint32_t>(jit::CompilePhase::process)) return std::nullopt;
  jit::CompileFailure failure;
  failure.phase = static_cast<jit::CompilePhase>(phase);
  failure.first_error = std::string(in.text());
  failure.log = std::string(in.text());
  if (!in.at_end()) return std::nullopt;
  return jit::CompileResult(tl::unexpect, std::move(failure));
}

bool send_frame(int socket, std::string_view bytes) {
  ByteWriter out;
  out.number(uint64_t{bytes.size()});
  out.raw(bytes);
  return send_all(socket, out.take());
}

std::optional<std::string> receive_frame(int socket) {
  uint64_t size = 0;
  if (!receive_all(socket, reinterpret_cast<char*>(&size), sizeof size)) return std::nullopt;
  if (size > kMostBytes) return std::nullopt;
  std::string bytes(size, '\0');
  if (!receive_all(socket, bytes.data(), bytes.size())) return std::nullopt;
  return bytes;
}

}  // namespace gemmtune::app
