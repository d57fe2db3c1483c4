// Draws progress with snprintf() into buffers on the stack.
#include "src/report/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "src/report/line.h"
#include "src/report/table.h"
#include "src/report/terminal.h"

namespace cgrun {
namespace {

constexpr int kBarWidth = 24;
constexpr int kLeastBar = 6;
constexpr int kGap = 2;  // characters between columns

// Says what a line shows, when it is known what fits.
struct ProgressLayout {
  int bar = kBarWidth;  // 0: none
  int columns = 0;      // the first so many
  bool dots = false;    // for those that are left out
  bool rate = true;
};

int Count(std::string_view columns) {
  int count = 0;
  while (!columns.empty()) {
    TakeColumn(columns);
    ++count;
  }
  return count;
}

// Characters of the first columns with their gaps.
int WidthOf(std::string_view columns, const ProgressLayout& layout) {
  int width = layout.dots ? kGap + 1 : 0;
  for (int i = 0; i < layout.columns; ++i) {
    width += kGap + static_cast<int>(TakeColumn(columns).size());
  }
  return width;
}

// `room` is for bar, columns and a throughput of `rate` characters.
ProgressLayout Fit(std::string_view columns, int rate, int room) {
  ProgressLayout layout;
  layout.columns = Count(columns);
  layout.rate = rate > 0;
  const auto left = [&] {
    return room - WidthOf(columns, layout) - (layout.rate ? kGap + rate : 0);
  };
  while (left() < 0 && layout.columns > 0) {
    --layout.columns;
    layout.dots = true;
  }
  if (left() < 0) layout.rate = false;
  if (left() < 0) layout.dots = false;
  layout.bar = std::min(kBarWidth, left() - 3);  // its brackets and a space
  if (layout.bar < kLeastBar || layout.dots) layout.bar = 0;
  return layout;
}

// " [=======>       ]" for a part of 1.
void AddBar(double part, int width, Line& line) {
  if (width == 0) return;
  const int filled = static_cast<int>(std::clamp(part, 0.0, 1.0) * width);
  line.Add(" [");
  line.Add('=', filled);
  if (filled < width) line.Add('>');
  line.Add(' ', width - filled - 1);
  line.Add(']');
}

void AddColumns(std::string_view columns, const ProgressLayout& layout, Line& line) {
  for (int i = 0; i < layout.columns; ++i) {
    line.Add("  ");
    line.Add(TakeColumn(columns));
  }
  if (layout.dots) line.Add("  …");
}

// "12/96".
void FormatCounts(const Progress& progress, char* text, size_t size) {
  std::snprintf(text, size, "%lld/%lld", static_cast<long long>(progress.done),
                static_cast<long long>(progress.total));
}

}  // namespace

int LineWidth(std::FILE* out, int otherwise) {
  struct winsize size {};
  if (ioctl(fileno(out), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return otherwise;
  return size.ws_col;
}

void FormatRate(double samples_per_second, char* text, size_t size) {
  char number[16];
  if (samples_per_second < 0) {
    *text = '\0';
    return;
  }
  FormatSi(samples_per_second, number, sizeof(number));
  std::snprintf(text, size, "%s samples/s", number);
}

void FormatProgress(const Progress& progress, int width, char* text, size_t size) {
  char counts[64], rate[48], eta[32];
  if (progress.total == 0) {
    std::snprintf(text, size, "%.*s", width, progress.label);
    return;
  }
  FormatCounts(progress, counts, sizeof(counts));
  FormatRate(progress.samples_per_second, rate, sizeof(rate));
  FormatEta(progress.eta_seconds, eta, sizeof(eta));
  const std::string_view label = progress.label, end = "  ETA ";
  const int fixed =
      static_cast<int>(label.size() + 1 + std::strlen(counts) + end.size() + std::strlen(eta));
  const ProgressLayout layout =
      Fit(progress.columns, static_cast<int>(std::strlen(rate)), width - fixed);
  Line line(text, size);
  const int most = static_cast<int>(label.size()) - std::max(0, fixed - width);
  line.Add(label.substr(0, static_cast<size_t>(std::max(0, most))));
  const double total = static_cast<double>(std::max<int64_t>(1, progress.total));
  AddBar(static_cast<double>(progress.done) / total, layout.bar, line);
  line.Add(' ');
  line.Add(counts);
  AddColumns(progress.columns, layout, line);
  if (layout.rate) {
    line.Add("  ");
    line.Add(rate);
  }
  line.Add(end);
  line.Add(eta);
}

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
    : ProgressPrinter(out, terminal, color, std::chrono::milliseconds(terminal ? 100 : 10'000)) {}

ProgressPrinter::ProgressPrinter(std::FILE* out, bool terminal, bool color,
                                 std::chrono::milliseconds pause)
    : out_(out),
      terminal_(terminal),
      color_(color),
      pause_(pause),
      last_(std::chrono::steady_clock::now()) {}

void ProgressPrinter::Show(const Progress& progress) {
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < pause_) return;
  last_ = now;
  terminal_ ? DrawBar(progress) : PrintLine(progress);
}

void ProgressPrinter::DrawBar(const Progress& progress) {
  char line[1024];
  FormatProgress(progress, LineWidth(out_, 80) - 1, line, sizeof(line));
  std::fprintf(out_, "\r\033[K%s", color_ ? "\033[36m" : "");
  PrintText(out_, line);
  if (color_) std::fputs("\033[0m", out_);
  std::fflush(out_);
  drawn_ = true;
}

void ProgressPrinter::PrintLine(const Progress& progress) {
  char counts[64], eta[32], rate[48], columns[1024];
  if (progress.total == 0) {
    PrintText(out_, progress.label);
    std::fputc('\n', out_);
    return;
  }
  FormatCounts(progress, counts, sizeof(counts));
  FormatEta(progress.eta_seconds, eta, sizeof(eta));
  FormatRate(progress.samples_per_second, rate, sizeof(rate));
  Line line(columns, sizeof(columns));
  for (std::string_view rest = progress.columns; !rest.empty();) {
    line.Add("  ");
    line.Add(TakeColumn(rest));
  }
  char text[1280];
  std::snprintf(text, sizeof(text), "%s  %s%s%s%s  ETA %s\n", progress.label, counts, columns,
                *rate == '\0' ? "" : "  ", rate, eta);
  PrintText(out_, text);
  std::fflush(out_);
}

void ProgressPrinter::Clear() {
  if (!terminal_) last_ = std::chrono::steady_clock::now();
  if (!drawn_) return;
  std::fputs("\r\033[K", out_);
  std::fflush(out_);
  drawn_ = false;
}

}  // namespace cgrun
