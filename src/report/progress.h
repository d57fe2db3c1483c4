// Progress of a run: a bar on a terminal, plain lines elsewhere. Prints without allocating.
#ifndef CGRUN_REPORT_PROGRESS_H_
#define CGRUN_REPORT_PROGRESS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace cgrun {

// Progress describes one moment of a pass over data.
struct Progress {
  const char* label = "";         // "epoch 3/12", "test"
  int64_t done = 0;               // batches
  int64_t total = 0;              // 0: the label alone is shown
  double samples_per_second = 0;  // negative: not shown
  double eta_seconds = -1;        // of the whole run; negative: not known
  const char* columns = "";       // "loss 0.1234\taccuracy 0.9810"
};

class ProgressPrinter {
 public:
  // `out` is where progress goes; `terminal` whether it is one that can overwrite a line. A bar is
  // redrawn ten times a second at most; elsewhere a line comes where there has been none for ten
  // seconds, or `pause`.
  ProgressPrinter(std::FILE* out, bool terminal, bool color);
  ProgressPrinter(std::FILE* out, bool terminal, bool color, std::chrono::milliseconds pause);

  // Shows the progress if it is time to.
  void Show(const Progress& progress);
  // Takes the bar away, so that a line can be printed in its place: that is due now.
  void Clear();

 private:
  void DrawBar(const Progress& progress);
  void PrintLine(const Progress& progress);

  std::FILE* out_;
  bool terminal_;
  bool color_;
  bool drawn_ = false;
  std::chrono::milliseconds pause_;
  std::chrono::steady_clock::time_point last_;
};

// The line of a bar, at most `width` characters: where it is too long the bar shrinks and goes,
// then the last columns go for an '…', then the throughput; the end of the run is never cut.
void FormatProgress(const Progress& progress, int width, char* text, size_t size);

// The characters of a line of the terminal that `out` is, or `otherwise`.
int LineWidth(std::FILE* out, int otherwise);

// "01:23", "1:02:03" into a buffer.
void FormatEta(double seconds, char* text, size_t size);
// "86.1 k samples/s"; "" for a negative one.
void FormatRate(double samples_per_second, char* text, size_t size);

}  // namespace cgrun

#endif  // CGRUN_REPORT_PROGRESS_H_
