#include "jit/disassembler.h"

#include <doctest/doctest.h>

#include <fstream>
#include <vector>

#include "test_folder.h"

namespace gemmtune::jit {
namespace {

namespace fs = std::filesystem;

// A program that stands in for nvdisasm.
fs::path make_tool(const fs::path& folder, const std::string& script) {
  fs::create_directories(folder);
  fs::path path = folder / "nvdisasm";
  std::ofstream(path) << "#!/bin/sh\n" << script;
  fs::permissions(path, fs::perms::owner_all);
  return path;
}

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

}  // namespace

TEST_CASE("the first folder that has the tool, as a program") {
  const TestFolder folder;
  const fs::path empty = folder.path() / "empty";
  const fs::path text = folder.path() / "text";
  const fs::path second = folder.path() / "second";
  fs::create_directories(empty);
  fs::create_directories(text);
  std::ofstream(text / "nvdisasm") << "not executable";
  const fs::path tool = make_tool(second, "");
  const std::vector<fs::path> folders = {empty, text, folder.path() / "none", second};
  CHECK(find_disassembler(folders) == tool);
  const auto missing = find_disassembler(std::span(folders).first(3));
  REQUIRE_FALSE(missing);
  CHECK(missing.error().kind == ErrorKind::unsupported);
  CHECK(missing.error().message.find("cuda-nvdisasm") != std::string::npos);
}

TEST_CASE("the tool reads the machine code and what it says comes back") {
  const TestFolder folder;
  const fs::path tool = make_tool(folder.path(), "echo \"$1\"; cat \"$2\"\n");
  const std::string many(300000, 'x');  // more than a pipe holds
  const auto output = disassemble(tool, bytes_of(many));
  REQUIRE_MESSAGE(output.has_value(), output.error().message);
  CHECK(*output == "-c\n" + many);
}

TEST_CASE("a tool that fails is quoted") {
  const TestFolder folder;
  const auto refused = disassemble(
      make_tool(folder.path(), "echo 'no such arch' >&2; echo more; exit 3\n"), bytes_of("x"));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.ends_with("nvdisasm: no such arch"));
  const auto killed = disassemble(make_tool(folder.path(), "kill -9 $$\n"), bytes_of("x"));
  REQUIRE_FALSE(killed);
  CHECK(killed.error().message.ends_with("ended without a word"));
  CHECK_FALSE(disassemble(folder.path() / "none", bytes_of("x")));
}

}  // namespace gemmtune::jit
