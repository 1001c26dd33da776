#include "tuner/model/known_calibration.h"

#include <optional>
#include <string>

#include "embedded/calibration_files.h"

namespace gemmtune::tuner {

Arch calibrated_arch(Arch arch) {
  arch.specific = false;
  return arch;
}

std::shared_ptr<const Calibration> shipped_calibration(Arch capability) {
  const std::string wanted = to_string(calibrated_arch(capability)) + ".json";
  for (const embedded::File& file : embedded::calibration_files()) {
    if (file.path != wanted) continue;
    auto calibration = Calibration::from_json(file.text);
    if (calibration) return std::make_shared<const Calibration>(*std::move(calibration));
  }
  return nullptr;
}

Expected<std::shared_ptr<const Calibration>> known_calibration(store::RecordStore& store,
                                                               Arch capability) {
  auto own = store.calibration(calibrated_arch(capability));
  if (!own) return tl::unexpected(own.error());
  if (*own) {
    auto calibration = Calibration::from_json(**own);
    if (calibration) return std::make_shared<const Calibration>(*std::move(calibration));
    if (calibration.error().kind != ErrorKind::unsupported)
      return tl::unexpected(calibration.error());
  }
  return shipped_calibration(capability);
}

}  // namespace gemmtune::tuner
