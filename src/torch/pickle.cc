// Runs the opcodes of protocols 2 to 4 on a stack.
#include "src/torch/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string_view>

#include "src/io/endian.h"
#include "src/io/file_error.h"
#include "src/io/memory_room.h"

namespace cgrun::torch {
namespace {

// No file of tensors comes near these. They bound what a small file can ask for.
constexpr size_t kMostMemo = 1 << 24, kMostText = 4096, kMostAxes = 64, kMostNesting = 80;
// A tensor has some 22 values in at least 100 bytes.
constexpr size_t kUsualBytes = 64 << 20, kBytesForEach = 24;

constexpr size_t MostValues(size_t bytes) {
  return std::max(kUsualBytes, kBytesForEach * bytes) / sizeof(PickleValue);
}

// A pickle may name these. Storages are the classes "torch.…Storage".
constexpr std::array<std::string_view, 6> kNames = {"collections.OrderedDict",
                                                    "torch._utils._rebuild_tensor",
                                                    "torch._utils._rebuild_tensor_v2",
                                                    "torch._utils._rebuild_parameter",
                                                    "torch.Size",
                                                    "torch.storage.UntypedStorage"};

bool IsStorageClass(std::string_view name) {
  return name.starts_with("torch.") && name.ends_with("Storage") &&
         std::ranges::count(name, '.') == 1;
}

class Machine {
 public:
  Machine(std::span<const std::byte> bytes, const std::string& path, size_t begin)
      : bytes_(bytes), path_(path), begin_(begin) {
    pickle_.values.resize(3);  // None, False, True
    pickle_.values[1].kind = pickle_.values[2].kind = PickleKind::kBool;
    pickle_.values[2].number = 1;
  }

  Pickle Run() {
    while (Step()) {
    }
    pickle_.root = Pop();
    pickle_.size = at_;
    return std::move(pickle_);
  }

 private:
  using Items = std::vector<PickleId>;

  [[noreturn]] void Fail(const std::string& what, const std::string& help = "") const {
    ThrowFileError(path_, fmt::format(": byte {}: {}", begin_ + opcode_at_, what), help);
  }
  [[noreturn]] void FailUnknown(const std::string& what) const {
    Fail(what + ", and only tensors are read",
         "in PyTorch, `torch.save(model.state_dict(), 'FILE.pth')` writes tensors alone");
  }
  [[noreturn]] void FailMeaning() const { Fail("the pickle makes no sense here"); }
  [[noreturn]] void FailDepth() const { Fail("the pickle is nested too deeply"); }

  // --- bytes

  std::span<const std::byte> Take(size_t count) {
    if (count > bytes_.size() - at_) Fail("the pickle is cut off", "the file is cut off");
    const auto taken = bytes_.subspan(at_, count);
    at_ += count;
    return taken;
  }
  template <class T>
  T Number() {
    return LoadLittle<T>(Take(sizeof(T)).data());
  }
  std::string Text(size_t count) {
    if (count > kMostText) Fail("a text is longer than those of tensors are");
    const auto text = Take(count);
    return {reinterpret_cast<const char*>(text.data()), text.size()};
  }
  std::string Line() {
    const auto rest = bytes_.subspan(at_);
    const auto end = std::ranges::find(rest, std::byte{'\n'});
    std::string line = Text(static_cast<size_t>(end - rest.begin()));
    Take(1);
    return line;
  }

  // --- the stack

  PickleId Add(PickleKind kind, int64_t number = 0, std::string text = {}, Items items = {}) {
    const size_t count = pickle_.values.size();
    if (count >= MostValues(bytes_.size())) {
      FailUnknown(fmt::format("the pickle has more than {} values", count));
    }
    if (std::has_single_bit(count)) {  // as many again may follow
      CheckRoom(path_, static_cast<int64_t>(count * sizeof(PickleValue)), "the rest of its pickle");
    }
    const uint8_t depth = DepthOver(items);
    pickle_.values.push_back({kind, depth, number, std::move(text), std::move(items)});
    return static_cast<PickleId>(pickle_.values.size() - 1);
  }
  // Returns the depth of a value that has these items.
  uint8_t DepthOver(const Items& items) const {
    uint8_t depth = 0;
    for (const PickleId item : items) depth = std::max(depth, At(item).depth);
    if (depth >= kMostNesting) FailDepth();
    return static_cast<uint8_t>(depth + 1);
  }
  void Push(PickleId id) { stack_.push_back(id); }
  void PushMark() {
    if (marks_.size() >= 2 * kMostNesting) FailDepth();
    marks_.push_back(stack_.size());
  }
  PickleId Pop() {
    const size_t bottom = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() <= bottom) FailMeaning();
    const PickleId id = stack_.back();
    stack_.pop_back();
    return id;
  }
  PickleId Top() {
    const PickleId id = Pop();
    Push(id);
    return id;
  }
  Items PopToMark() {
    if (marks_.empty()) FailMeaning();
    const auto from = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    Items items(from, stack_.end());
    stack_.erase(from, stack_.end());
    marks_.pop_back();
    return items;
  }
  Items PopSome(int count) {
    Items items;
    for (int i = 0; i < count; ++i) items.insert(items.begin(), Pop());
    return items;
  }
  const PickleValue& At(PickleId id) const { return pickle_[id]; }
  // Item `place` of a tuple or list, which must be of that kind.
  const PickleValue& Item(PickleId of, size_t place, PickleKind kind) const {
    const Items& items = At(of).items;
    if (place >= items.size() || At(items[place]).kind != kind) FailMeaning();
    return At(items[place]);
  }

  void Append(PickleKind kind, const Items& items) {
    if (At(Top()).kind != kind) FailMeaning();
    if (kind == PickleKind::kDict && items.size() % 2 != 0) FailMeaning();
    PickleValue& whole = pickle_.values[Top()];
    whole.depth = std::max(whole.depth, DepthOver(items));
    whole.items.insert(whole.items.end(), items.begin(), items.end());
  }

  void Remember(size_t place) {
    if (place > kMostMemo || place > bytes_.size()) FailMeaning();
    if (place >= memo_.size()) memo_.resize(place + 1);
    memo_[place] = Top();
  }
  void Recall(size_t place) {
    if (place >= memo_.size() || !memo_[place]) FailMeaning();
    Push(*memo_[place]);
  }

  // --- what tensors are made of

  void PushName(const std::string& module, const std::string& name) {
    std::string full = module + "." + name;
    if (std::ranges::find(kNames, full) == kNames.end() && !IsStorageClass(full)) {
      FailUnknown("'" + full + "' is asked for");
    }
    Push(Add(PickleKind::kName, 0, std::move(full)));
  }

  // ('storage', class, key, place, elements), in old files with a view of another storage, too.
  void MakeStorage() {
    const PickleId id = Pop();
    if (Item(id, 0, PickleKind::kText).text != "storage") FailMeaning();
    const std::string key = Item(id, 2, PickleKind::kText).text;
    const int64_t elements = Item(id, 4, PickleKind::kInt).number;
    if (At(id).items.size() > 5) Item(id, 5, PickleKind::kNone);
    const std::string& type = Item(id, 1, PickleKind::kName).text;
    if (!IsStorageClass(type)) FailUnknown("there is a storage of '" + type + "'");
    if (elements < 0) FailMeaning();
    Push(Add(PickleKind::kStorage, elements, key, {At(id).items[1]}));
  }

  // (storage, offset, sizes, strides, …)
  PickleId MakeTensor(PickleId arguments) {
    Item(arguments, 0, PickleKind::kStorage);
    const int64_t offset = Item(arguments, 1, PickleKind::kInt).number;
    for (const size_t place : {2, 3}) {
      const Items& numbers = Item(arguments, place, PickleKind::kTuple).items;
      if (numbers.size() > kMostAxes) FailMeaning();
      for (const PickleId number : numbers) {
        if (At(number).kind != PickleKind::kInt) FailMeaning();
      }
    }
    const Items& parts = At(arguments).items;
    return Add(PickleKind::kTensor, offset, {}, {parts[0], parts[2], parts[3]});
  }

  // () or ([[key, value], …],). Pairs that are named again and again must not add up.
  PickleId MakeDict(PickleId arguments) {
    Items items;
    if (!At(arguments).items.empty()) {
      const Items& pairs = Item(arguments, 0, PickleKind::kList).items;
      pairs_ += pairs.size();
      if (pairs_ > bytes_.size()) FailMeaning();
      for (const PickleId pair : pairs) {
        if (At(pair).items.size() != 2) FailMeaning();
        items.insert(items.end(), At(pair).items.begin(), At(pair).items.end());
      }
    }
    return Add(PickleKind::kDict, 0, {}, std::move(items));
  }

  void Reduce() {
    const PickleId arguments = Pop(), function = Pop();
    if (At(arguments).kind != PickleKind::kTuple || At(function).kind != PickleKind::kName) {
      FailMeaning();
    }
    const std::string name = At(function).text;
    if (name == "collections.OrderedDict") return Push(MakeDict(arguments));
    if (name.starts_with("torch._utils._rebuild_tensor")) return Push(MakeTensor(arguments));
    if (name == "torch._utils._rebuild_parameter") {
      Item(arguments, 0, PickleKind::kTensor);
      return Push(At(arguments).items[0]);
    }
    if (name != "torch.Size") FailUnknown("'" + name + "' is called");
    Item(arguments, 0, PickleKind::kTuple);
    Push(At(arguments).items[0]);
  }

  // The state of a dict is its metadata. No other object that is read has a state.
  void Build() {
    Pop();
    if (At(Top()).kind != PickleKind::kDict) FailUnknown("an object gets a state");
  }

  // A whole number of at most eight bytes, as Python writes long ones.
  void PushLong() {
    const auto bytes = Take(Number<uint8_t>());
    uint64_t number = 0;
    if (!bytes.empty() && static_cast<int8_t>(bytes.back()) < 0) number = ~uint64_t{0};
    // Longer ones are PyTorch's magic number alone: their low bytes tell them apart.
    for (size_t i = std::min<size_t>(bytes.size(), 8); i-- > 0;) {
      number = number << 8 | static_cast<uint8_t>(bytes[i]);
    }
    Push(Add(PickleKind::kInt, static_cast<int64_t>(number)));
  }

  // --- opcodes; false for STOP

  bool Step() {
    opcode_at_ = at_;
    const auto opcode = Number<uint8_t>();
    if (opcode == '.') return false;
    if (!IsStructure(opcode) && !IsConstant(opcode)) {
      FailUnknown(fmt::format("there is the opcode 0x{:02x}", opcode));
    }
    return true;
  }

  bool IsStructure(uint8_t opcode) {
    switch (opcode) {
      case 0x80:
        return Take(1), true;  // PROTO
      case 0x95:
        return Take(8), true;  // FRAME
      case '(':
        return PushMark(), true;
      case '}':
        return Push(Add(PickleKind::kDict)), true;
      case ']':
        return Push(Add(PickleKind::kList)), true;
      case ')':
        return Push(Add(PickleKind::kTuple)), true;
      case 't':
        return Push(Add(PickleKind::kTuple, 0, {}, PopToMark())), true;
      case 0x85:
        return Push(Add(PickleKind::kTuple, 0, {}, PopSome(1))), true;
      case 0x86:
        return Push(Add(PickleKind::kTuple, 0, {}, PopSome(2))), true;
      case 0x87:
        return Push(Add(PickleKind::kTuple, 0, {}, PopSome(3))), true;
      case 'd':
        return Push(Add(PickleKind::kDict, 0, {}, PopPairs())), true;
      case 'l':
        return Push(Add(PickleKind::kList, 0, {}, PopToMark())), true;
      case 'a':
        return Append(PickleKind::kList, PopSome(1)), true;
      case 'e':
        return Append(PickleKind::kList, PopToMark()), true;
      case 's':
        return Append(PickleKind::kDict, PopSome(2)), true;
      case 'u':
        return Append(PickleKind::kDict, PopToMark()), true;
      case 'q':
        return Remember(Number<uint8_t>()), true;
      case 'r':
        return Remember(Number<uint32_t>()), true;
      case 0x94:
        return Remember(memo_.size()), true;  // MEMOIZE
      case 'h':
        return Recall(Number<uint8_t>()), true;
      case 'j':
        return Recall(Number<uint32_t>()), true;
      case 'R':
        return Reduce(), true;
      case 'b':
        return Build(), true;
      case 'Q':
        return MakeStorage(), true;
      default:
        return false;
    }
  }

  bool IsConstant(uint8_t opcode) {
    switch (opcode) {
      case 'N':
        return Push(0), true;
      case 0x89:
        return Push(1), true;
      case 0x88:
        return Push(2), true;
      case 'J':
        return Push(Add(PickleKind::kInt, Number<int32_t>())), true;
      case 'K':
        return Push(Add(PickleKind::kInt, Number<uint8_t>())), true;
      case 'M':
        return Push(Add(PickleKind::kInt, Number<uint16_t>())), true;
      case 0x8a:
        return PushLong(), true;
      case 'G':
        return Take(8), Push(Add(PickleKind::kReal)), true;
      case 'X':
      case 'T':
        return PushText(Number<uint32_t>()), true;
      case 0x8c:
      case 'U':
        return PushText(Number<uint8_t>()), true;
      case 'c':
        return PushGlobal(), true;
      case 0x93:
        return PushStackGlobal(), true;
      default:
        return false;
    }
  }

  void PushText(size_t size) { Push(Add(PickleKind::kText, 0, Text(size))); }
  void PushGlobal() {
    const std::string module = Line(), name = Line();
    PushName(module, name);
  }
  void PushStackGlobal() {
    const PickleId name = Pop(), module = Pop();
    if (At(name).kind != PickleKind::kText || At(module).kind != PickleKind::kText) FailMeaning();
    const std::string text = At(module).text;
    PushName(text, At(name).text);
  }
  Items PopPairs() {
    Items items = PopToMark();
    if (items.size() % 2 != 0) FailMeaning();
    return items;
  }

  std::span<const std::byte> bytes_;
  std::string path_;
  size_t begin_ = 0, at_ = 0, opcode_at_ = 0;
  size_t pairs_ = 0;  // that became entries of dicts
  Pickle pickle_;
  Items stack_;
  std::vector<size_t> marks_;  // sizes of the stack
  std::vector<std::optional<PickleId>> memo_;
};

}  // namespace

Pickle ReadPickle(std::span<const std::byte> bytes, const std::string& path, size_t begin) {
  return Machine(bytes, path, begin).Run();
}

}  // namespace cgrun::torch
