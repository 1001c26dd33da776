#include "jit/cubin_cache.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <thread>
#include <vector>

#include "core/output_file.h"
#include "jit/touched_file.h"
#include "test_folder.h"

namespace gemmtune::jit {
namespace {

namespace fs = std::filesystem;

CacheKey key_of(int number) {
  return {fmt::format("{:032x}", number)};
}

// A kernel whose every byte follows from its number and its version.
CompiledKernel kernel_of(int number, int version = 0, std::size_t bytes = 20000) {
  CompiledKernel kernel;
  kernel.name = fmt::format("kernel_{}_{}", number, version);
  kernel.arch = {8, 0, false};
  kernel.cubin.assign(bytes, static_cast<std::byte>(number * 31 + version));
  kernel.entries.push_back({"entry", {number, 0, 0, 0, version, 0, 0}});
  return kernel;
}

bool is_whole(const CompiledKernel& kernel) {
  const int number = kernel.entries.at(0).usage.registers;
  const int version = kernel.entries.at(0).usage.static_smem_bytes;
  return kernel.cubin == kernel_of(number, version).cubin;
}

std::vector<fs::path> files_in(const fs::path& dir) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::recursive_directory_iterator(dir)) {
    if (entry.is_regular_file()) out.push_back(entry.path());
  }
  return out;
}

void set_age(const fs::path& path, std::chrono::seconds age) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - age);
}

TEST_CASE("a stored kernel is found by another cache object; an unknown one is a miss") {
  const TestFolder folder;
  const fs::path dir = folder.path() / "deep" / "er";
  CubinCache cache(dir);
  CHECK_FALSE(fs::exists(dir));
  CHECK_FALSE(cache.load(key_of(1)));
  CHECK_FALSE(fs::exists(dir));
  REQUIRE(cache.store(key_of(1), kernel_of(1)));
  REQUIRE(cache.store(key_of(2), PtxText{"n", {8, 0, false}, "ptx", 1, false}));
  const CubinCache other(dir);
  const auto hit = other.load(key_of(1));
  REQUIRE(hit);
  CHECK(hit->from_cache);
  CHECK(is_whole(*hit));
  CHECK_FALSE(other.load(key_of(3)));
  CHECK(other.load_ptx(key_of(2))->ptx == "ptx");
  CHECK_FALSE(other.load(key_of(2)));
  CHECK(files_in(dir).size() == 2);
}

CompileRequest request_of(int number) {
  CompileRequest request;
  request.source = {"k", fmt::format("text {}", number), {{"h", "header"}}, {"entry"}, {}};
  request.arch = {8, 0, false};
  return request;
}

TEST_CASE("a kernel is found by its source, whatever compiler made it") {
  const TestFolder folder;
  CubinCache cache(folder.path());
  CHECK_FALSE(cache.load_any(request_of(1)));
  REQUIRE(cache.store(key_of(1), kernel_of(1)));
  REQUIRE(cache.remember(request_of(1), key_of(1)));
  REQUIRE(cache.load_any(request_of(1)));
  CHECK(is_whole(*cache.load_any(request_of(1))));
  // The last one stored counts.
  REQUIRE(cache.store(key_of(2), kernel_of(2)));
  REQUIRE(cache.remember(request_of(1), key_of(2)));
  CHECK(cache.load_any(request_of(1))->name == "kernel_2_0");
  CHECK_FALSE(cache.load_any(request_of(3)));
  CompileRequest other = request_of(1);
  other.arch = {9, 0, false};
  CHECK_FALSE(cache.load_any(other));
  other = request_of(1);
  other.options.emplace_back("--maxrregcount=32");
  CHECK_FALSE(cache.load_any(other));
  other = request_of(1);
  other.source.headers[0].text += " ";
  CHECK_FALSE(cache.load_any(other));
}

TEST_CASE("a link that leads nowhere, or to another kernel, is a miss; pruning removes it") {
  const TestFolder folder;
  CubinCache cache(folder.path());
  REQUIRE(cache.remember(request_of(1), key_of(7)));
  CHECK_FALSE(cache.load_any(request_of(1)));
  const fs::path link = files_in(folder.path()).at(0);
  for (const std::string& text :
       {std::string(), std::string("../../../../etc/passwd"), std::string(32, 'G')}) {
    std::ofstream(link) << text;
    CHECK_FALSE(cache.load_any(request_of(1)));
  }
  CompiledKernel foreign = kernel_of(7);
  foreign.entries[0].entry = "another";
  REQUIRE(cache.store(key_of(7), foreign));
  REQUIRE(cache.remember(request_of(1), key_of(7)));
  CHECK_FALSE(cache.load_any(request_of(1)));
  REQUIRE(cache.store(key_of(7), kernel_of(7)));
  CHECK(cache.load_any(request_of(1)));
  REQUIRE(cache.prune());
  CHECK(files_in(folder.path()).size() == 2);
  REQUIRE(cache.prune(0));
  CHECK(files_in(folder.path()).empty());
}

TEST_CASE("a damaged file is a miss and is replaced") {
  const TestFolder folder;
  CubinCache cache(folder.path());
  REQUIRE(cache.store(key_of(1), kernel_of(1)));
  const fs::path file = cache.file_of(key_of(1));
  const auto size = fs::file_size(file);
  const auto damage = [&](int kind) {
    if (kind == 0) fs::resize_file(file, 0);
    if (kind == 1) fs::resize_file(file, size / 2);
    if (kind == 2) fs::resize_file(file, size + 4096);
    if (kind == 3) std::ofstream(file) << "not a kernel at all";
    if (kind == 4) {
      std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
      out.seekp(static_cast<std::streamoff>(size / 2));
      out.put('\x55');
    }
    if (kind == 5) {  // another key's file under this name
      REQUIRE(cache.store(key_of(2), kernel_of(2)));
      fs::copy_file(cache.file_of(key_of(2)), file, fs::copy_options::overwrite_existing);
    }
  };
  for (int kind = 0; kind < 6; ++kind) {
    CAPTURE(kind);
    damage(kind);
    CHECK_FALSE(cache.load(key_of(1)));
    REQUIRE(cache.store(key_of(1), kernel_of(1)));
    CHECK(cache.load(key_of(1)));
  }
  fs::remove(file);
  fs::create_directory(file);
  CHECK_FALSE(cache.load(key_of(1)));
}

TEST_CASE("a pipe in a file's place does not block") {
  const TestFolder folder;
  const CubinCache cache(folder.path());
  fs::create_directories(cache.file_of(key_of(1)).parent_path());
  REQUIRE(::mkfifo(cache.file_of(key_of(1)).c_str(), 0600) == 0);
  CHECK_FALSE(cache.load(key_of(1)));
}

TEST_CASE("a folder that cannot be made: one warning, then quiet") {
  const TestFolder folder;
  std::ofstream(folder.path() / "taken") << "a file";
  int warnings = 0;
  std::string text;
  CubinCache cache(folder.path() / "taken" / "cache", [&](const std::string& message) {
    ++warnings;
    text = message;
  });
  CHECK(cache.writable());
  for (int i = 0; i < 3; ++i) {
    const auto stored = cache.store(key_of(i), kernel_of(i));
    REQUIRE_FALSE(stored);
    CHECK(stored.error().kind == ErrorKind::io);
  }
  CHECK(warnings == 1);
  CHECK(text.find("without the kernel cache") != std::string::npos);
  CHECK(text.find("taken") != std::string::npos);
  CHECK_FALSE(cache.writable());
}

// Runs `body` in a process of its own and returns its exit code.
template <class Body>
int in_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

TEST_CASE("a file of the working directory is written by its bare name") {
  const std::string name = "written-" + std::to_string(getpid());
  CHECK(write_file_atomically(name, "text"));
  CHECK(read_and_touch(name, 100) == "text");
  fs::remove(name);
}

TEST_CASE("a disk that fills up in the middle of a file leaves nothing behind") {
  const TestFolder folder;
  CubinCache before(folder.path());
  REQUIRE(before.store(key_of(1), kernel_of(1)));
  // The system cuts files off at 8 KiB, as a full disk would.
  const int code = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{8192, 8192};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    int warnings = 0;
    CubinCache cache(folder.path(), [&](const std::string&) { ++warnings; });
    if (cache.store(key_of(1), kernel_of(1, 5))) return 2;
    if (cache.store(key_of(2), kernel_of(2))) return 3;
    if (warnings != 1) return 4;
    const auto old = cache.load(key_of(1));  // reading goes on
    return old && is_whole(*old) ? 0 : 5;
  });
  CHECK(code == 0);
  CHECK(files_in(folder.path()).size() == 1);
  CHECK(before.load(key_of(1)));
}

TEST_CASE("many processes write the same kernels while others read") {
  const TestFolder folder;
  std::vector<pid_t> writers;
  for (int writer = 0; writer < 4; ++writer) {
    const pid_t child = ::fork();
    if (child == 0) {
      CubinCache cache(folder.path());
      for (int round = 0; round < 40; ++round) {
        const int number = round % 4;
        if (!cache.store(key_of(number), kernel_of(number, writer))) ::_exit(1);
        const auto seen = cache.load(key_of(number));
        if (!seen || !is_whole(*seen)) ::_exit(2);
      }
      ::_exit(0);
    }
    writers.push_back(child);
  }
  const CubinCache cache(folder.path());
  int torn = 0;
  for (int round = 0; round < 400; ++round) {
    const auto seen = cache.load(key_of(round % 4));
    if (seen && !is_whole(*seen)) ++torn;
  }
  CHECK(torn == 0);
  for (const pid_t writer : writers) {
    int status = 0;
    ::waitpid(writer, &status, 0);
    CHECK(status == 0);
  }
  CHECK(files_in(folder.path()).size() == 4);
}

TEST_CASE("writers killed at any moment leave whole files, or temporary ones that are pruned") {
  const TestFolder folder;
  for (int round = 0; round < 15; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      CubinCache cache(folder.path());
      for (int i = 0;; ++i) static_cast<void>(cache.store(key_of(i % 3), kernel_of(i % 3, round)));
    }
    ::usleep(static_cast<useconds_t>(1500 + round * 700));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const CubinCache cache(folder.path());
    for (int i = 0; i < 3; ++i) {
      const bool there = fs::exists(cache.file_of(key_of(i)));
      const auto seen = cache.load(key_of(i));
      CHECK(there == seen.has_value());
      if (seen) CHECK(is_whole(*seen));
    }
  }
  CubinCache cache(folder.path());
  for (const fs::path& file : files_in(folder.path())) set_age(file, std::chrono::hours(2));
  REQUIRE(cache.prune());
  for (const fs::path& file : files_in(folder.path())) CHECK(file.extension() == ".kernel");
}

TEST_CASE("threads that store, load and prune one cache") {
  const TestFolder folder;
  CubinCache cache(folder.path());
  std::atomic<int> torn = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 25; ++round) {
        const int number = (round + t) % 5;
        if (!cache.store(key_of(number), kernel_of(number, t))) ++torn;
        const auto seen = cache.load(key_of(number));
        if (seen && !is_whole(*seen)) ++torn;
        if (t == 0 && round % 5 == 0) static_cast<void>(cache.prune(30000));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(torn == 0);
}

TEST_CASE("prune removes the least recently used first") {
  const TestFolder folder;
  CubinCache cache(folder.path());
  for (int i = 0; i < 10; ++i) {
    REQUIRE(cache.store(key_of(i), kernel_of(i)));
    set_age(cache.file_of(key_of(i)), std::chrono::hours(100 - i));
  }
  REQUIRE(cache.load(key_of(0)));  // the oldest is used, so it becomes the newest
  std::ofstream(folder.path() / "README") << "not ours";
  const auto one = static_cast<int64_t>(fs::file_size(cache.file_of(key_of(0))));
  auto report = cache.prune(one * 4);
  REQUIRE(report);
  CHECK(report->files_removed == 6);
  CHECK(report->bytes_removed == one * 6);
  CHECK(report->bytes_left == one * 4);
  for (int i = 0; i < 10; ++i) CHECK(cache.load(key_of(i)).has_value() == (i == 0 || i >= 7));
  CHECK(fs::exists(folder.path() / "README"));
  CHECK(cache.prune(one * 4)->files_removed == 0);
  CHECK(cache.prune(0)->bytes_left == 0);
  CHECK(CubinCache(folder.path() / "nothing here").prune()->files_removed == 0);
}

// A file, with the folders above it, that was last used some days ago.
fs::path old_file(const fs::path& path) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << "text";
  set_age(path, std::chrono::hours(50));
  return path;
}

TEST_CASE("prune leaves the temporary file of a writer that may be alive") {
  const TestFolder folder;
  const fs::path old = old_file(folder.path() / "ab" / ".gemm-tune.tmp-12-345");
  const fs::path young = old_file(folder.path() / "ab" / ".gemm-tune.tmp-12-346");
  set_age(young, std::chrono::minutes(50));
  REQUIRE(CubinCache(folder.path()).prune(0));
  CHECK(fs::exists(young));
  CHECK_FALSE(fs::exists(old));
}

TEST_CASE("prune removes nothing that is not the cache's own, at any level") {
  const TestFolder folder;
  const std::string key = key_of(7).hex;  // in the folder 00
  std::vector<std::string> names = {"chapter.source",        "data.kernel",   "results.tmp-final",
                                    ".gemm-tune.tmp-12-345", key + ".kernel", key + ".source"};
  for (const char* in : {"thesis/", "00/thesis/", "000/", "0g/", "AB/"}) {
    for (size_t i = 0; i < 6; ++i) names.push_back(in + names[i]);
  }
  for (const char* name :
       {"chapter.source", "data.kernel", "results.tmp-final", ".gemm-tune.tmp-", ".gemm-tune.tmp-1",
        ".gemm-tune.tmp-1-", ".gemm-tune.tmp--1", ".gemm-tune.tmp-1-2.txt", "my.gemm-tune.tmp-1-2"})
    names.push_back(std::string("00/") + name);
  names.push_back("01/" + key + ".kernel");  // of another folder
  names.push_back("00/" + key + ".kernel.txt");
  names.push_back("00/x" + key + ".kernel");
  names.push_back("00/" + std::string(32, 'A') + ".source");
  for (const std::string& name : names) old_file(folder.path() / name);
  old_file(folder.path() / "00" / (key + ".kernel"));
  old_file(folder.path() / "00" / (key + ".source"));
  old_file(folder.path() / "00" / ".gemm-tune.tmp-12-345");
  const auto report = CubinCache(folder.path()).prune(0);
  REQUIRE(report);
  CHECK(report->files_removed == 3);
  for (const std::string& name : names) {
    CAPTURE(name);
    CHECK(fs::exists(folder.path() / name));
  }
}

TEST_CASE("prune follows no links to other folders") {
  const TestFolder folder;
  const TestFolder other;
  const fs::path file = old_file(other.path() / (key_of(7).hex + ".kernel"));
  fs::create_directory(folder.path() / "01");
  fs::create_directory_symlink(other.path(), folder.path() / "00");
  REQUIRE(CubinCache(folder.path()).prune(0));
  CHECK(fs::exists(file));
}

}  // namespace
}  // namespace gemmtune::jit
