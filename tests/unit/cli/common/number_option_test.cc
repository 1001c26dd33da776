#include <doctest/doctest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "cli/common/command.h"
#include "cli/program.h"

namespace gemmtune::cli {
namespace {

// A command line up to an option's value.
using Words = std::vector<std::string>;

// The beginnings "verify --seed", "show" (for its id) ... of all options of `app` that take values.
void collect(const CLI::App& app, const Words& words, std::vector<Words>& out) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 0) continue;  // a flag
    Words all = words;
    if (!option->get_positional()) all.push_back("--" + option->get_lnames().front());
    out.push_back(std::move(all));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    Words all = words;
    all.push_back(command->get_name());
    collect(*command, all, out);
  }
}

enum class Verdict { accepted, refused, not_converted };

// What the options make of `value`, with the message.
Verdict parse(const Words& words, const std::string& value, std::string& message) {
  CLI::App app;
  CommonOptions common;
  Action action;
  add_commands(app, common, action);
  Words reversed = words;
  reversed.push_back(value);
  std::reverse(reversed.begin(), reversed.end());
  try {
    app.parse(reversed);
  } catch (const CLI::ConversionError& error) {
    message = error.what();
    return Verdict::not_converted;
  } catch (const CLI::RequiredError&) {
    // Of another option that is missing; but "" is no argument, and -1 no positional one.
    const bool is_argument = !value.empty() && value.front() != '-';
    return is_argument ? Verdict::accepted : Verdict::refused;
  } catch (const CLI::ParseError& error) {
    message = error.what();
    return Verdict::refused;
  }
  return Verdict::accepted;
}

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += word + " ";
  return text;
}

}  // namespace

TEST_CASE("every option that takes a number refuses what is none, and says what is legal") {
  CLI::App app;
  CommonOptions common;
  Action action;
  add_commands(app, common, action);
  std::vector<Words> options;
  collect(app, {}, options);
  int numbers = 0;
  for (const Words& words : options) {
    const std::string option = joined(words);
    CAPTURE(option);
    std::string message;
    const Verdict of_a_word = parse(words, "zzz", message);
    CHECK_MESSAGE(of_a_word != Verdict::not_converted, "takes a number without a check: ", message);
    if (of_a_word == Verdict::accepted) continue;
    ++numbers;
    CHECK_MESSAGE(message.find("'zzz' is refused; a ") != std::string::npos, message);
    CHECK(message.find(" at most ") != std::string::npos);
    for (const char* bad : {"nan", "inf", "-inf", "1e999", "99999999999999999999", "-1", "0x10",
                            "+1", "1,5", " 1", "1 ", ""}) {
      CAPTURE(bad);
      CHECK(parse(words, bad, message) == Verdict::refused);
    }
    CHECK_MESSAGE(parse(words, "2", message) == Verdict::accepted, message);
  }
  CHECK(numbers >= 50);  // --lda, --batch, --seed ... of each command
}

TEST_CASE("what each number may be") {
  struct Bounds {
    Words words;
    std::vector<std::string> good;
    std::vector<std::string> bad;
  };
  const std::vector<Bounds> all = {
      {{"tune", "--jobs"}, {"1", "1024"}, {"0", "1025", "1000000", "1.5"}},
      {{"ladder", "--jobs"}, {"1"}, {"0", "1000000"}},
      {{"tune", "--candidates"}, {"1", "1000000"}, {"0", "1000001"}},
      {{"ladder", "--candidates"}, {"1"}, {"0"}},
      {{"tune", "--seconds"}, {"0.001", "1e7"}, {"0", "-0.5", "1e8"}},
      {{"ladder", "--seconds"}, {"30"}, {"0"}},
      {{"bench", "--seconds"}, {"6"}, {"0"}},
      {{"bench", "--beta"}, {"0", "0.5", "1"}, {"-1", "1e9", "nan"}},
      {{"bench", "--cublaslt-workspace"}, {"0", "67108864"}, {"-1", "67108865", "0.5"}},
      {{"tune", "--seed"}, {"0", "18446744073709551615"}, {"18446744073709551616", "1.5"}},
      {{"verify", "--seed"}, {"0"}, {"-3"}},
      {{"verify", "--tiles"}, {"1"}, {"0"}},
      {{"query", "--lda"}, {"1"}, {"0"}},
      {{"query", "--ldb"}, {"1"}, {"0"}},
      {{"query", "--ldc"}, {"1"}, {"0"}},
      {{"query", "--batch"}, {"1"}, {"0"}},
      {{"query", "--align"}, {"1"}, {"0", "99999999999"}},
      {{"tune", "--device"}, {"0", "7"}, {"99999999999"}},
      {{"db", "prune", "--keep"}, {"1"}, {"0"}},
      {{"diff", "--threshold"}, {"0", "2.5"}, {"-0.1"}},
      {{"show"}, {"1", "9223372036854775807"}, {"0", "9223372036854775808"}},
      {{"inspect"}, {"1"}, {"0", "1.5"}}};
  for (const Bounds& bounds : all) {
    const std::string option = joined(bounds.words);
    CAPTURE(option);
    std::string message;
    for (const std::string& good : bounds.good)
      CHECK_MESSAGE(parse(bounds.words, good, message) == Verdict::accepted, good, ": ", message);
    for (const std::string& bad : bounds.bad)
      CHECK_MESSAGE(parse(bounds.words, bad, message) == Verdict::refused, bad);
  }
}

TEST_CASE("numbers are decimal") {
  CLI::App app;
  CommonOptions common;
  Action action;
  add_commands(app, common, action);
  app.parse("show 010");
  CHECK(app.get_subcommand("show")->get_option("id")->as<int>() == 10);
}

}  // namespace gemmtune::cli
