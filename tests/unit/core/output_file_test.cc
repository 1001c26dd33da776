#include "core/output_file.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "../test_folder.h"

namespace gemmtune {
namespace {

// What is done when a file was written and has not got its name yet.
std::function<void()>& before_sync() {
  static std::function<void()> hook;
  return hook;
}

}  // namespace
}  // namespace gemmtune

// In the system's place.
extern "C" int fsync(int fd) {
  if (gemmtune::before_sync()) gemmtune::before_sync()();
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace gemmtune {
namespace {

std::string read_back(const std::string& path) {
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
    CHECK(read_back(path) == "old");
    REQUIRE(file->commit());
    CHECK(read_back(path) == expected);
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

TEST_CASE("a file that is replaced keeps its permissions") {
  const TestFolder folder;
  const std::string path = folder.write("out", "old");
  REQUIRE(chmod(path.c_str(), 0600) == 0);
  REQUIRE(write_file(path, "new"));
  struct stat info {};
  REQUIRE(stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  CHECK(read_back(path) == "new");
}

TEST_CASE("nothing is in the folder until there is something to write") {
  const TestFolder folder;
  auto file = OutputFile::create(folder.file("out"));
  REQUIRE(file);
  CHECK(folder.content().empty());  // a killed search leaves this
  REQUIRE(file->commit());
  CHECK(folder.content() == std::vector<std::string>{"out"});
}

TEST_CASE("symbolic links are followed, dangling ones too, and stay") {
  const TestFolder folder;
  std::filesystem::create_directory(folder.path() / "far");
  const std::string target = folder.write("far/target", "old");
  std::filesystem::create_symlink("far/target", folder.path() / "link");
  std::filesystem::create_symlink("link", folder.path() / "link_to_link");
  std::filesystem::create_symlink("far/new", folder.path() / "dangling");
  REQUIRE(write_file(folder.file("link_to_link"), "one"));
  CHECK(read_back(target) == "one");
  REQUIRE(write_file(folder.file("dangling"), "two"));
  CHECK(read_back(folder.file("far/new")) == "two");
  for (const char* name : {"link", "link_to_link", "dangling"})
    CHECK(std::filesystem::is_symlink(folder.path() / name));
  CHECK(folder.content().size() == 6);  // nothing temporary
  std::filesystem::create_symlink("circle", folder.path() / "circle");
  CHECK_FALSE(write_file(folder.file("circle"), "x"));
}

TEST_CASE("what is no regular file is written directly and stays what it is") {
  const TestFolder folder;
  struct stat info {};
  const auto full = write_file("/dev/full", "x");
  REQUIRE_FALSE(full);
  CHECK(full.error().kind == ErrorKind::io);
  REQUIRE(stat("/dev/full", &info) == 0);
  CHECK(S_ISCHR(info.st_mode));
  CHECK(write_file("/dev/null", "x"));

  const std::string fifo = folder.file("fifo");
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  std::string received;
  std::thread reader([&] { received = read_back(fifo); });
  const auto written = write_file(fifo, "through the pipe");
  reader.join();
  REQUIRE_MESSAGE(written, written.error().message);
  CHECK(received == "through the pipe");
  REQUIRE(stat(fifo.c_str(), &info) == 0);
  CHECK(S_ISFIFO(info.st_mode));
}

TEST_CASE("a link of /proc stands for an open file, which is written") {
  const TestFolder folder;
  const std::string path = folder.write("open", "");
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  REQUIRE(fd >= 0);
  REQUIRE(write_file("/proc/self/fd/" + std::to_string(fd), "content"));
  struct stat opened {};
  struct stat named {};
  REQUIRE(fstat(fd, &opened) == 0);
  REQUIRE(stat(path.c_str(), &named) == 0);
  close(fd);
  CHECK(opened.st_ino == named.st_ino);
  CHECK(read_back(path) == "content");
}

TEST_CASE("what cannot become an output file is a usage error") {
  const TestFolder folder;
  for (const std::string& path :
       {folder.path().string(), folder.file("none/out"), std::string(), std::string("-"),
        std::string("/proc/out"), std::string("/sys/out"), folder.write("file", "") + "/out"}) {
    CAPTURE(path);
    const auto file = OutputFile::create(path);
    REQUIRE_FALSE(file);
    CHECK(file.error().kind == ErrorKind::usage);
  }
  CHECK(folder.content() == std::vector<std::string>{"file"});
}

TEST_CASE("what a command reads, and databases, are not written over") {
  const TestFolder folder;
  const std::string log = folder.write("app.log", "line");
  std::filesystem::create_symlink("app.log", folder.path() / "link");
  const std::string database = folder.write("tuned.db", std::string("SQLite format 3\0rest", 20));
  const std::string other = folder.write("other", "SQLite format 3");
  const std::vector<std::string> read = {folder.file("none"), log};
  for (const std::string& path :
       {log, folder.file("link"), folder.path().string() + "/./app.log"}) {
    CAPTURE(path);
    const auto file = OutputFile::create(path, read);
    REQUIRE_FALSE(file);
    CHECK(file.error().kind == ErrorKind::usage);
    CHECK(file.error().message.find("is read by this command") != std::string::npos);
  }
  const auto file = OutputFile::create(database);
  REQUIRE_FALSE(file);
  CHECK(file.error().message.find("is a database") != std::string::npos);
  CHECK(OutputFile::create(log, std::vector{other}));
  CHECK(OutputFile::create(other, read));
  CHECK(read_back(log) == "line");
}

TEST_CASE("a file of the program's own: in a folder that is made, and in the place of a link") {
  const TestFolder folder;
  REQUIRE(write_file_atomically(folder.path() / "new" / "deep" / "file", "one"));
  CHECK(read_back(folder.file("new/deep/file")) == "one");
  const std::string other = folder.write("other", "kept");
  std::filesystem::create_symlink("other", folder.path() / "link");
  REQUIRE(write_file_atomically(folder.path() / "link", "two"));
  CHECK(read_back(other) == "kept");
  CHECK_FALSE(std::filesystem::is_symlink(folder.path() / "link"));
  const auto failed = write_file_atomically(folder.path() / "other" / "file", "x");
  REQUIRE_FALSE(failed);
  CHECK(failed.error().kind == ErrorKind::io);
  std::filesystem::create_directory(folder.path() / "is_folder");
  CHECK_FALSE(write_file_atomically(folder.path() / "is_folder", "x"));
  for (const std::string& name : folder.content()) CHECK_FALSE(is_temporary_name(name));
}

TEST_CASE(
    "a file of our own is written though its folder is removed meanwhile, unless that goes on") {
  const TestFolder folder;
  const std::filesystem::path cache = folder.path() / "cache";
  int removals = 2;
  before_sync() = [&] {
    if (removals-- > 0) std::filesystem::remove_all(cache);
  };
  CHECK(write_file_atomically(cache / "ab" / "file", "one"));
  CHECK(read_back(folder.file("cache/ab/file")) == "one");
  removals = 1000;
  const auto failed = write_file_atomically(cache / "ab" / "file", "two");
  before_sync() = {};
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message.ends_with("file: No such file or directory"));
  CHECK_FALSE(std::filesystem::exists(cache));
}

TEST_CASE("a file of our own that would be too large is an error, not the end of the process") {
  const TestFolder folder;
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const rlimit limit = {1000, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const bool small = write_file_atomically(folder.path() / "small", "x").has_value();
    const auto large = write_file_atomically(folder.path() / "large", std::string(2000, 'x'));
    const bool told = !large && large.error().message.ends_with("File too large");
    ::_exit(small && told ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(folder.content() == std::vector<std::string>{"small"});
}

TEST_CASE("a temporary file is known by its name while it is written") {
  const TestFolder folder;
  auto file = OutputFile::create(folder.path() / "file");
  REQUIRE(file);
  file->write(std::string(size_t{2} << 20, 'x'));
  const std::vector<std::string> written = folder.content();
  REQUIRE(written.size() == 1);
  CHECK(is_temporary_name(written.front()));
  for (const char* name : {"file", "results.tmp-final", ".gemm-tune.tmp-", ".gemm-tune.tmp-1-",
                           ".gemm-tune.tmp-1-2x", "x.gemm-tune.tmp-1-2"})
    CHECK_FALSE(is_temporary_name(name));
}

}  // namespace gemmtune
