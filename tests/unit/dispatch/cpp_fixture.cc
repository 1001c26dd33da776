#include "cpp_fixture.h"

#include "library_fixture.h"

namespace gemmtune::dispatch_test {

struct CppFixture::State : Library {};

CppFixture::CppFixture() : state_(std::make_unique<State>()) {
  const Problem problem = make_problem({24, 20, 16});
  const codegen::KernelSpec kernel = naive_kernel(problem);
  write_database(database(), {{problem, kernel, 10, vendor_config(1), 20, fake_device().uuid}});
  write_cache(cache(), {kernel});
  define_kernel(state_->fake, kernel);
}

CppFixture::~CppFixture() = default;

std::string CppFixture::database() const {
  return state_->folder.file("tuned.db");
}
std::string CppFixture::cache() const {
  return state_->folder.file("cache");
}

}  // namespace gemmtune::dispatch_test
