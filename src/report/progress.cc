// Drawing progress with snprintf into a buffer on the stack.
#include "src/report/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace cgrun {
namespace {

constexpr int kBarWidth = 24;

int TerminalWidth(std::FILE* out) {
  struct winsize size {};
  if (ioctl(fileno(out), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

// "[=======>       ]" for a part of 1.
void FormatBar(double part, char* text) {
  const int filled = static_cast<int>(std::clamp(part, 0.0, 1.0) * kBarWidth);
  text[0] = '[';
  for (int i = 0; i < kBarWidth; ++i) text[1 + i] = i < filled ? '=' : i == filled ? '>' : ' ';
  text[1 + kBarWidth] = ']';
  text[2 + kBarWidth] = '\0';
}

}  // namespace

void FormatEta(double seconds, char* text, size_t size) {
  if (seconds < 0) {
    std::snprintf(text, size, "--:--");
    return;
  }
  const long long whole = static_cast<long long>(std::min(seconds, 1e9) + 0.5);
  if (whole < 3600) {
    std::snprintf(text, size, "%02lld:%02lld", whole / 60, whole % 60);
  } else {
    std::snprintf(text, size, "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
  }
}

ProgressPrinter::ProgressPrinter(std::FILE* out, bool terminal, bool color)
    : out_(out), terminal_(terminal), color_(color), last_(std::chrono::steady_clock::now()) {}

void ProgressPrinter::Show(const Progress& progress) {
  const auto now = std::chrono::steady_clock::now();
  const std::chrono::duration<double> since = now - last_;
  if (since.count() < (terminal_ ? 0.1 : 10.0)) return;
  last_ = now;
  terminal_ ? DrawBar(progress) : PrintLine(progress);
}

void ProgressPrinter::DrawBar(const Progress& progress) {
  char bar[kBarWidth + 3], eta[32], line[512];
  const double total = static_cast<double>(std::max<int64_t>(1, progress.total));
  FormatBar(static_cast<double>(progress.done) / total, bar);
  FormatEta(progress.eta_seconds, eta, sizeof(eta));
  std::snprintf(line, sizeof(line), "%s %s %lld/%lld  %s  %.0f samples/s  ETA %s", progress.label,
                bar, static_cast<long long>(progress.done), static_cast<long long>(progress.total),
                progress.numbers, progress.samples_per_second, eta);
  const int width = std::min<int>(TerminalWidth(out_) - 1, static_cast<int>(sizeof(line)));
  std::fprintf(out_, "\r\033[K%s%.*s%s", color_ ? "\033[36m" : "", std::max(0, width), line,
               color_ ? "\033[0m" : "");
  std::fflush(out_);
  drawn_ = true;
}

void ProgressPrinter::PrintLine(const Progress& progress) {
  char eta[32];
  FormatEta(progress.eta_seconds, eta, sizeof(eta));
  std::fprintf(out_, "%s  %lld/%lld  %s  %.0f samples/s  ETA %s\n", progress.label,
               static_cast<long long>(progress.done), static_cast<long long>(progress.total),
               progress.numbers, progress.samples_per_second, eta);
  std::fflush(out_);
}

void ProgressPrinter::Clear() {
  if (!drawn_) return;
  std::fputs("\r\033[K", out_);
  std::fflush(out_);
  drawn_ = false;
}

}  // namespace cgrun
