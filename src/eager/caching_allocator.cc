// Bins, splits and merges.
#include "src/eager/caching_allocator.h"

#include <algorithm>

#include "src/base/check.h"
#include "src/base/diagnostics.h"

namespace cgrun {
namespace {

constexpr int kSmall = 0;
constexpr int kLarge = 1;

int64_t RoundUpTo(int64_t bytes, int64_t unit) { return (bytes + unit - 1) / unit * unit; }

// The order inside a bin: best fit takes the smallest block that is large enough, of equal ones the
// one that was there first.
bool ComesBefore(const CachingAllocator::Block& a, const CachingAllocator::Block& b) {
  if (a.bytes != b.bytes) return a.bytes < b.bytes;
  if (a.segment != b.segment) return a.segment < b.segment;
  return a.address < b.address;
}

}  // namespace

CachingAllocatorOptions CachingAllocatorOptions::ForGpu() {
  CachingAllocatorOptions options;
  options.alignment = 512;
  return options;
}

CachingAllocatorOptions CachingAllocatorOptions::ForHost() {
  CachingAllocatorOptions options;
  options.huge_limit = options.small_limit;
  options.segment_rounding = 64 << 10;
  return options;
}

CachingAllocatorOptions CachingAllocatorOptions::For(const Device& device) {
  return KindOfDevice(device.Info().name).on_host ? ForHost() : ForGpu();
}

CachingAllocator::CachingAllocator(Device& device, const CachingAllocatorOptions& options)
    : device_(device), options_(options) {}

CachingAllocator::~CachingAllocator() {
  for (Block* first : segments_) {
    if (first != nullptr) device_.Free(ArenaKind::kDevice, first->address);
  }
}

int64_t CachingAllocator::Rounded(int64_t bytes) const {
  return RoundUpTo(std::max<int64_t>(bytes, 1), options_.alignment);
}

int64_t CachingAllocator::SegmentBytes(int64_t rounded) const {
  if (rounded <= options_.small_limit) return std::max(options_.small_segment, rounded);
  if (rounded < options_.huge_limit) return std::max(options_.large_segment, rounded);
  return RoundUpTo(rounded, options_.segment_rounding);
}

CachingAllocator::Block* CachingAllocator::Allocate(int64_t bytes) {
  const int64_t rounded = Rounded(bytes);
  const int pool = rounded <= options_.small_limit ? kSmall : kLarge;
  Block* block = TakeBestFit(pools_[static_cast<size_t>(pool)], rounded);
  if (block == nullptr) block = NewSegment(pool, rounded);
  const int64_t left = block->bytes - rounded;
  const int64_t worth_having = pool == kSmall ? options_.alignment : options_.small_limit + 1;
  if (left >= worth_having) Split(block, rounded);
  block->live_bytes = rounded;
  ++statistics_.allocations;
  ++statistics_.live_blocks;
  statistics_.live_bytes += rounded;
  statistics_.live_peak_bytes = std::max(statistics_.live_peak_bytes, statistics_.live_bytes);
  return block;
}

void CachingAllocator::Free(Block* block) noexcept {
  CGRUN_CHECK(block->live_bytes > 0) << "freed twice";
  statistics_.live_bytes -= block->live_bytes;
  --statistics_.live_blocks;
  block->live_bytes = 0;
  if (block->after != nullptr && block->after->live_bytes == 0) {
    Remove(block->after);
    MergeWithNext(block);
  }
  if (block->before != nullptr && block->before->live_bytes == 0) {
    Remove(block->before);
    block = MergeWithNext(block->before);
  }
  Insert(block);
}

// Each bin is four times finer than a power of two, so that few blocks are looked at.
int CachingAllocator::BinOf(int64_t bytes) const {
  const auto units = static_cast<uint64_t>(bytes / options_.alignment);
  if (units < 8) return static_cast<int>(units);
  const int highest = std::bit_width(units) - 1;
  const auto quarter = static_cast<int>((units >> (highest - 2)) & 3);
  return 8 + (highest - 3) * 4 + quarter;
}

CachingAllocator::Block* CachingAllocator::TakeBestFit(Pool& pool, int64_t bytes) {
  const int bin = BinOf(bytes);
  Block* block = pool.bins[static_cast<size_t>(bin)];
  while (block != nullptr && block->bytes < bytes) block = block->next_larger;
  size_t word = static_cast<size_t>(bin + 1) / 64;
  uint64_t mask = ~uint64_t{0} << ((bin + 1) % 64);
  for (; block == nullptr && word < pool.occupied.size(); ++word, mask = ~uint64_t{0}) {
    const uint64_t bits = pool.occupied[word] & mask;
    if (bits != 0) block = pool.bins[word * 64 + static_cast<size_t>(std::countr_zero(bits))];
  }
  if (block != nullptr) Remove(block);
  return block;
}

void CachingAllocator::Insert(Block* block) {
  Pool& pool = pools_[static_cast<size_t>(block->pool)];
  const auto bin = static_cast<size_t>(BinOf(block->bytes));
  Block* smaller = nullptr;
  Block* larger = pool.bins[bin];
  while (larger != nullptr && ComesBefore(*larger, *block)) {
    smaller = larger;
    larger = larger->next_larger;
  }
  block->next_smaller = smaller;
  block->next_larger = larger;
  if (larger != nullptr) larger->next_smaller = block;
  (smaller != nullptr ? smaller->next_larger : pool.bins[bin]) = block;
  pool.occupied[bin / 64] |= uint64_t{1} << (bin % 64);
}

void CachingAllocator::Remove(Block* block) {
  Pool& pool = pools_[static_cast<size_t>(block->pool)];
  const auto bin = static_cast<size_t>(BinOf(block->bytes));
  if (block->next_larger != nullptr) block->next_larger->next_smaller = block->next_smaller;
  (block->next_smaller != nullptr ? block->next_smaller->next_larger : pool.bins[bin]) =
      block->next_larger;
  if (pool.bins[bin] == nullptr) pool.occupied[bin / 64] &= ~(uint64_t{1} << (bin % 64));
}

CachingAllocator::Block* CachingAllocator::NewSegment(int pool, int64_t rounded) {
  const int64_t bytes = SegmentBytes(rounded);
  std::byte* address = TakeFromDevice(bytes);
  Block* block = NewBlock();
  *block = {.address = address,
            .bytes = bytes,
            .segment = static_cast<int32_t>(segments_.size()),
            .pool = static_cast<int8_t>(pool)};
  segments_.push_back(block);
  ++statistics_.system_allocations;
  statistics_.reserved_bytes += bytes;
  statistics_.reserved_peak_bytes =
      std::max(statistics_.reserved_peak_bytes, statistics_.reserved_bytes);
  return block;
}

std::byte* CachingAllocator::TakeFromDevice(int64_t bytes) {
  try {
    return device_.Allocate(ArenaKind::kDevice, bytes);
  } catch (const UserError&) {
    if (statistics_.reserved_bytes == statistics_.live_bytes) throw;
  }
  ReleaseCached();
  return device_.Allocate(ArenaKind::kDevice, bytes);
}

void CachingAllocator::Split(Block* block, int64_t bytes) {
  Block* rest = NewBlock();
  *rest = {.address = block->address + bytes,
           .bytes = block->bytes - bytes,
           .segment = block->segment,
           .pool = block->pool,
           .before = block,
           .after = block->after};
  if (rest->after != nullptr) rest->after->before = rest;
  block->after = rest;
  block->bytes = bytes;
  Insert(rest);
}

CachingAllocator::Block* CachingAllocator::MergeWithNext(Block* block) {
  Block* next = block->after;
  block->bytes += next->bytes;
  block->after = next->after;
  if (block->after != nullptr) block->after->before = block;
  DropBlock(next);
  return block;
}

CachingAllocator::Block* CachingAllocator::NewBlock() {
  if (spare_ == nullptr) return &blocks_.emplace_back();
  Block* block = spare_;
  spare_ = block->after;
  return block;
}

void CachingAllocator::DropBlock(Block* block) {
  block->after = spare_;
  spare_ = block;
}

void CachingAllocator::ReleaseCached() {
  for (Block*& first : segments_) {
    if (first == nullptr || first->live_bytes > 0 || first->after != nullptr) continue;
    Remove(first);
    device_.Free(ArenaKind::kDevice, first->address);
    statistics_.reserved_bytes -= first->bytes;
    DropBlock(first);
    first = nullptr;
  }
}

std::vector<std::vector<const CachingAllocator::Block*>> CachingAllocator::Segments() const {
  std::vector<std::vector<const Block*>> segments;
  for (const Block* block : segments_) {
    if (block == nullptr) continue;
    std::vector<const Block*>& blocks = segments.emplace_back();
    for (; block != nullptr; block = block->after) blocks.push_back(block);
  }
  return segments;
}

}  // namespace cgrun
