#include "store/config_function.h"

#include <sqlite3.h>

#include <string>
#include <string_view>

#include "core/config_spelling.h"
#include "store/rows.h"

namespace gemmtune::store {
namespace {

std::string_view text_of(sqlite3_value* value) {
  const auto* const text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  if (text == nullptr) return {};
  return {text, static_cast<size_t>(sqlite3_value_bytes(value))};
}

// A row whose arch cannot be read keeps its config.
void evaluate(sqlite3_context* context, int, sqlite3_value** arguments) {
  const std::string_view config = text_of(arguments[1]);
  const auto arch = parse_any_arch(text_of(arguments[2]));
  const std::string spelled =
      arch ? current_config(text_of(arguments[0]), config, *arch) : std::string(config);
  sqlite3_result_text(context, spelled.data(), static_cast<int>(spelled.size()), SQLITE_TRANSIENT);
}

}  // namespace

void add_config_function(SQLite::Database& database) {
  constexpr int kArguments = 3;
  constexpr bool kDeterministic = true;
  database.createFunction("current_config", kArguments, kDeterministic, nullptr, evaluate, nullptr,
                          nullptr, nullptr);
}

}  // namespace gemmtune::store
