// An engine: Google's open-source robots.txt library (https://github.com/google/robotstxt), through its public header.
//
// It implements the protocol in bench/judge/PROTOCOL.md. The library itself is not included: `build` compiles this file
// against an installed header and library. The library keeps no parsed form between questions, so the only model is
// `one-shot`.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "robots.h"

#ifndef LIBRARY_VERSION
#define LIBRARY_VERSION "unknown"
#endif

namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

// Limits of the protocol: bytes in a value, fields in a message.
constexpr std::uint64_t kMaxValue = 32 << 20;
constexpr std::size_t kMaxFields = 100'000;

// Minimum duration of a sample in nanoseconds.
constexpr std::int64_t kSampleNanoseconds = 1'000'000;

// The implementation does not support the request.
struct Skip : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Reads the next message. Returns false at the end of the input.
bool ReadMessage(std::istream& in, Fields& fields) {
  fields.clear();
  for (int next = in.peek(); next != std::char_traits<char>::eof(); next = in.peek()) {
    if (next == '\n') {
      in.get();
      return true;
    }
    std::string key, digits;
    std::getline(in, key, ':');
    std::getline(in, digits, ':');
    if (digits.empty() || digits.size() > 8 || digits.find_first_not_of("0123456789") != std::string::npos) {
      throw std::invalid_argument("expected key:length:value, found the length \"" + digits.substr(0, 20) + "\"");
    }
    const std::uint64_t size = std::stoull(digits);
    if (size > kMaxValue || fields.size() == kMaxFields) throw std::invalid_argument("the message exceeds a limit of the protocol");
    std::string value(size, '\0');
    in.read(value.data(), static_cast<std::streamsize>(size));
    if (!in || in.get() != '\n') throw std::invalid_argument("no newline after the value of the field \"" + key + "\"");
    fields.emplace_back(std::move(key), std::move(value));
  }
  if (!fields.empty()) throw std::invalid_argument("the input ends within a message");
  return false;
}

void WriteMessage(std::ostream& out, const Fields& fields) {
  for (const auto& [key, value] : fields) out << key << ':' << value.size() << ':' << value << '\n';
  out << '\n' << std::flush;
}

const std::string& Field(const Fields& fields, const std::string& key) {
  for (const auto& field : fields) {
    if (field.first == key) return field.second;
  }
  throw std::invalid_argument("expected a field \"" + key + "\"");
}

// A row of `decide` or `bench`. `body` is null if nothing is loaded in the slot.
struct Row {
  const std::string* body;
  std::string agent;
  std::string url;
};

class Engine {
 public:
  // Returns the reply to a request whose first field is `do`.
  Fields Answer(const std::string& asked, const Fields& fields) {
    if (asked == "hello") return Hello();
    if (asked == "load") {
      bodies_[std::stoul(Field(fields, "slot"))] = Field(fields, "body");
      return {};
    }
    if (asked == "clear") {
      bodies_.clear();
      return {};
    }
    if (asked == "decide") return Decide(fields);
    if (asked == "bench") return Bench(fields);
    throw Skip("no such request: " + asked);
  }

 private:
  static Fields Hello() {
    return {{"name", "google-robotstxt"},
            {"version", LIBRARY_VERSION},
            {"dialect", "google-lib"},
            {"language", "C++, " __VERSION__},
            {"can", "load"},
            {"can", "decide"},
            {"can", "lines"},
            {"can", "bench:one-shot"}};
  }

  std::vector<Row> Rows(const Fields& fields) const {
    std::vector<Row> rows;
    const std::string* body = nullptr;
    std::string agent;
    for (const auto& [key, value] : fields) {
      if (key == "slot") {
        const auto found = bodies_.find(std::stoul(value));
        body = found == bodies_.end() ? nullptr : &found->second;
      } else if (key == "agent") {
        agent = value;
      } else if (key == "url") {
        rows.push_back({body, agent, value});
      }
    }
    return rows;
  }

  bool Allows(const Row& row) { return matcher_.OneAgentAllowedByRobots(*row.body, row.agent, row.url); }

  Fields Decide(const Fields& fields) {
    std::string verdicts, lines;
    for (const Row& row : Rows(fields)) {
      if (!lines.empty()) lines += ' ';
      if (row.body == nullptr) {
        verdicts += 'E';
        lines += '-';
        continue;
      }
      verdicts += Allows(row) ? 'A' : 'D';
      lines += std::to_string(matcher_.matching_line());
    }
    return {{"verdicts", verdicts}, {"lines", lines}};
  }

  Fields Bench(const Fields& fields) {
    if (Field(fields, "model") != "one-shot") throw Skip("the library parses the file again for each URL");
    const std::int64_t budget = std::stoll(Field(fields, "budget"));
    std::vector<Row> rows = Rows(fields);
    rows.erase(std::remove_if(rows.begin(), rows.end(), [](const Row& row) { return row.body == nullptr; }), rows.end());
    const auto pass = [&] {
      std::int64_t disallowed = 0;
      for (const Row& row : rows) disallowed += !Allows(row);
      return disallowed;
    };
    Fields samples;
    pass();
    for (std::int64_t total = 0; samples.empty() || total < budget;) {
      std::int64_t passes = 0, disallowed = 0, elapsed = 0;
      const auto start = std::chrono::steady_clock::now();
      do {
        disallowed += pass();
        ++passes;
        elapsed = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
      } while (elapsed < kSampleNanoseconds);
      samples.emplace_back("sample", std::to_string(elapsed) + ' ' + std::to_string(passes) + ' ' + std::to_string(disallowed));
      total += elapsed;
    }
    return samples;
  }

  std::map<unsigned long, std::string> bodies_;
  googlebot::RobotsMatcher matcher_;
};

Fields Reply(Engine& engine, const Fields& request) {
  Fields reply = {{"is", "ok"}};
  try {
    const Fields answer = engine.Answer(Field(request, "do"), request);
    reply.insert(reply.end(), answer.begin(), answer.end());
  } catch (const Skip& skip) {
    reply = {{"is", "skip"}, {"why", skip.what()}};
  } catch (const std::exception& error) {
    reply = {{"is", "error"}, {"why", error.what()}};
  }
  return reply;
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  Engine engine;
  Fields request;
  try {
    while (ReadMessage(std::cin, request)) {
      if (!request.empty() && request[0] == std::pair<std::string, std::string>("do", "stop")) return EXIT_SUCCESS;
      WriteMessage(std::cout, Reply(engine, request));
    }
  } catch (const std::exception& error) {
    std::cerr << "engine: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
