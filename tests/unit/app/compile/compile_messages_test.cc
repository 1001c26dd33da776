#include "app/compile/compile_messages.h"

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <array>
#include <random>
#include <string>
#include <thread>

#include "core/descriptor.h"

namespace gemmtune::app {
namespace {

jit::CompileRequest a_request() {
  jit::CompileRequest request;
  request.arch = {9, 0, true};
  request.source.name = "kernel";
  request.source.text = std::string("extern \"C\"\n\0é", 13);
  request.source.headers = {{"a.h", "one\n"}, {"b.h", ""}};
  request.source.entries = {"kernel", "sum"};
  request.source.options = {"--use_fast_math"};
  request.options = {"-DX=1", ""};
  return request;
}

jit::CompiledKernel a_kernel() {
  jit::CompiledKernel kernel;
  kernel.name = "kernel";
  kernel.arch = {9, 0, true};
  kernel.cubin = {std::byte{0}, std::byte{255}, std::byte{10}};
  kernel.entries = {{"kernel", {}}};
  kernel.entries[0].usage.registers = 168;
  kernel.warnings = {"slow"};
  kernel.compile_ms = 12.5;
  return kernel;
}

TEST_CASE("a request is read as it was written") {
  const jit::CompileRequest request = a_request();
  const auto read = decode_request(encode(request));
  REQUIRE(read);
  CHECK(read->arch == request.arch);
  CHECK(read->source.name == request.source.name);
  CHECK(read->source.text == request.source.text);
  REQUIRE(read->source.headers.size() == 2);
  CHECK(read->source.headers[0].name == "a.h");
  CHECK(read->source.headers[0].text == "one\n");
  CHECK(read->source.headers[1].name == "b.h");
  CHECK(read->source.headers[1].text.empty());
  CHECK(read->source.entries == request.source.entries);
  CHECK(read->source.options == request.source.options);
  CHECK(read->options == request.options);
}

TEST_CASE("a kernel is read as it was written, and is none from the cache") {
  const jit::CompiledKernel kernel = a_kernel();
  const auto read = decode_result(encode(jit::CompileResult(kernel)));
  REQUIRE(read);
  REQUIRE(*read);
  CHECK((*read)->name == kernel.name);
  CHECK((*read)->arch == kernel.arch);
  CHECK((*read)->cubin == kernel.cubin);
  REQUIRE((*read)->usage("kernel") != nullptr);
  CHECK((*read)->usage("kernel")->registers == 168);
  CHECK((*read)->warnings == kernel.warnings);
  CHECK((*read)->compile_ms == 12.5);
  CHECK_FALSE((*read)->from_cache);
}

TEST_CASE("a failure is read as it was written") {
  for (const auto phase :
       {jit::CompilePhase::arch, jit::CompilePhase::front_end, jit::CompilePhase::assembler,
        jit::CompilePhase::output, jit::CompilePhase::process}) {
    const jit::CompileFailure failure{phase, "first", "first\nsecond"};
    const auto read = decode_result(encode(jit::CompileResult(tl::unexpect, failure)));
    REQUIRE(read);
    REQUIRE_FALSE(*read);
    CHECK(read->error().phase == phase);
    CHECK(read->error().first_error == "first");
    CHECK(read->error().log == "first\nsecond");
  }
}

TEST_CASE("a setup and its answer are read as they were written") {
  const auto setup = decode_setup(encode(CompilerSetup{"/lib/libnvrtc.so.13", 123456789012}));
  REQUIRE(setup);
  CHECK(setup->library == "/lib/libnvrtc.so.13");
  CHECK(setup->library_bytes == 123456789012);
  CHECK(decode_answer(encode_answer("")) == "");
  CHECK(decode_answer(encode_answer("no such file")) == "no such file");
}

TEST_CASE("what is no message is none, wherever it ends") {
  const std::string request = encode(a_request());
  const std::string result = encode(jit::CompileResult(a_kernel()));
  const std::string failure = encode(
      jit::CompileResult(tl::unexpect, jit::CompileFailure{jit::CompilePhase::output, "a", "b"}));
  const std::string setup = encode(CompilerSetup{"lib", 1});
  for (size_t i = 0; i < request.size(); ++i) CHECK_FALSE(decode_request(request.substr(0, i)));
  for (size_t i = 0; i < result.size(); ++i) CHECK_FALSE(decode_result(result.substr(0, i)));
  for (size_t i = 0; i < failure.size(); ++i) CHECK_FALSE(decode_result(failure.substr(0, i)));
  for (size_t i = 0; i < setup.size(); ++i) CHECK_FALSE(decode_setup(setup.substr(0, i)));
  CHECK_FALSE(decode_request(request + "x"));
  CHECK_FALSE(decode_result(result + "x"));
  CHECK_FALSE(decode_answer(encode_answer("no") + "x"));
}

TEST_CASE("a phase that there is none of is no result") {
  std::string failure = encode(
      jit::CompileResult(tl::unexpect, jit::CompileFailure{jit::CompilePhase::output, "a", "b"}));
  failure[4] = 17;
  CHECK_FALSE(decode_result(failure));
}

TEST_CASE("frames of any size arrive whole and in order, and end with the channel") {
  std::array<int, 2> ends = {};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
  const Descriptor from(ends[0]);
  std::vector<std::string> frames = {"", "a", std::string(1, '\0')};
  std::mt19937 random(7);
  for (int i = 0; i < 20; ++i) frames.emplace_back(random() % 2'000'000, 'x');
  std::thread sender([&, to = Descriptor(ends[1])] {
    for (const std::string& frame : frames) CHECK(send_frame(to.get(), frame));
  });
  for (const std::string& frame : frames) {
    const auto received = receive_frame(from.get());
    REQUIRE(received);
    CHECK(*received == frame);
  }
  CHECK_FALSE(receive_frame(from.get()));
  sender.join();
  CHECK_FALSE(send_frame(from.get(), "nobody reads this"));
}

TEST_CASE("a size that no frame has ends the channel") {
  std::array<int, 2> ends = {};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
  const Descriptor from(ends[0]);
  const Descriptor to(ends[1]);
  const std::string size(8, '\xff');
  REQUIRE(::send(to.get(), size.data(), size.size(), 0) == 8);
  CHECK_FALSE(receive_frame(from.get()));
}

}  // namespace
}  // namespace gemmtune::app
