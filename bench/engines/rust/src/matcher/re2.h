// The class through which Rust calls RE2::Set; `re2.rs` declares its Rust side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <re2/re2.h>
#include <re2/set.h>

#include "rust/cxx.h"

namespace reptile_judge {

class Re2Set {
 public:
  Re2Set(rust::Slice<const rust::Str> expressions, std::int64_t max_mem) : set_(options(max_mem), RE2::ANCHOR_START) {
    std::string error;
    for (const rust::Str &expression : expressions) {
      if (set_.Add(std::string_view(expression.data(), expression.size()), &error) < 0) throw std::runtime_error(error);
    }
    if (!set_.Compile()) throw std::runtime_error("out of memory");
  }

  std::int32_t first(rust::Slice<const std::uint8_t> text) {
    const std::string_view view(reinterpret_cast<const char *>(text.data()), text.size());
    RE2::Set::ErrorInfo error;
    if (set_.Match(view, &matches_, &error)) return *std::min_element(matches_.begin(), matches_.end());
    if (error.kind != RE2::Set::kNoError) throw std::runtime_error("the search failed");
    return -1;
  }

 private:
  static RE2::Options options(std::int64_t max_mem) {
    RE2::Options options(RE2::Quiet);
    options.set_encoding(RE2::Options::EncodingLatin1);
    options.set_dot_nl(true);
    options.set_never_capture(true);
    options.set_max_mem(max_mem);
    return options;
  }

  RE2::Set set_;
  // A member, to avoid an allocation per search.
  std::vector<int> matches_;
};

inline std::unique_ptr<Re2Set> new_set(rust::Slice<const rust::Str> expressions, std::int64_t max_mem) {
  return std::make_unique<Re2Set>(expressions, max_mem);
}

}  // namespace reptile_judge
