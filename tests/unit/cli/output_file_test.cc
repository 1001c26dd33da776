#include "cli/output_file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "process.h"

namespace gemmtune::cli {
namespace {

using cli_test::TestFolder;

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("an output file appears whole, when it is done") {
  const TestFolder folder;
  const std::string path = folder.write("out", "old");
  {
    auto file = OutputFile::create(path);
    REQUIRE(file);
    std::string expected;
    for (int i = 0; i < 3; ++i) {
      const std::string piece(700'000, static_cast<char>('a' + i));  // more than one buffer
      file->write(piece);
      expected += piece;
    }
    CHECK(read(path) == "old");
    REQUIRE(file->commit());
    CHECK(read(path) == expected);
  }
  CHECK(folder.content() == std::vector<std::string>{"out"});
  struct stat info {};
  REQUIRE(stat(path.c_str(), &info) == 0);
  const mode_t mask = umask(0);
  umask(mask);
  CHECK((info.st_mode & 0777) == (0666 & ~mask));
}

TEST_CASE("an output file that is given up leaves nothing") {
  const TestFolder folder;
  {
    auto file = OutputFile::create(folder.file("out"));
    REQUIRE(file);
    file->write("half");
  }
  CHECK(folder.content().empty());
}

TEST_CASE("what cannot become an output file is a usage error") {
  const TestFolder folder;
  for (const std::string& path :
       {folder.path().string(), folder.file("none/out"), std::string(), std::string("/dev/null")}) {
    CAPTURE(path);
    const auto file = OutputFile::create(path);
    REQUIRE_FALSE(file);
    CHECK(file.error().kind == ErrorKind::usage);
  }
  CHECK(folder.content().empty());
}

}  // namespace gemmtune::cli
