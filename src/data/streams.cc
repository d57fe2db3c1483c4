// Reads the samples of streams from the base.
#include "src/data/streams.h"

#include <utility>

#include "src/base/check.h"

namespace cgrun {

Streams::Streams(std::shared_ptr<const Dataset> base, int64_t streams)
    : base_(std::move(base)), streams_(streams), length_(base_->size() / streams) {
  CGRUN_CHECK(length_ > 0) << streams << " streams of " << base_->size() << " samples";
}

void Streams::Read(int64_t index, std::span<const std::span<std::byte>> out) const {
  base_->Read(InBase(index), out);
}

void Streams::ReadField(size_t index, int64_t first, std::span<std::byte> out) const {
  const auto bytes = static_cast<size_t>(fields()[index].bytes());
  for (size_t at = 0; bytes > 0 && at < out.size(); at += bytes, ++first) {
    base_->ReadField(index, InBase(first), out.subspan(at, bytes));
  }
}

}  // namespace cgrun
