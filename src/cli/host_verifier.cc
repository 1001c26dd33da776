#include "cli/host_verifier.h"

namespace gemmtune::cli {

Expected<tuner::HostVerifier> make_host_verifier(std::shared_ptr<const jit::Compiler> /*compiler*/,
                                                 Arch /*arch*/) {
  return make_error(ErrorKind::unsupported,
                    "this build cannot run kernels on the CPU; use --backend gpu");
}

}  // namespace gemmtune::cli
