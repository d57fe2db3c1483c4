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

}  // namespace cgrun
