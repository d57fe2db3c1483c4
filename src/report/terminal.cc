// The parts between two bytes that are replaced, in one go each.
#include "src/report/terminal.h"

#include <cstddef>

#include "src/base/printable.h"

namespace cgrun {

void PrintText(std::FILE* out, std::string_view text) {
  while (!text.empty()) {
    const size_t bytes = PrintableBytes(text);
    std::fwrite(text.data(), 1, bytes, out);
    text.remove_prefix(bytes);
    if (text.empty()) return;
    std::fputc(text[0] == '\n' ? '\n' : '?', out);
    text.remove_prefix(1);
  }
}

}  // namespace cgrun
