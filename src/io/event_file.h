// TensorBoard's event files: scalars by tag and step, in records of TFRecord's format
// (tensorflow/core/util/event.proto and summary.proto, lib/io/record_writer.h).
#ifndef CGRUN_IO_EVENT_FILE_H_
#define CGRUN_IO_EVENT_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cgrun {

// Writes one file. After its construction it does not allocate while a record takes less than
// `record_room` bytes.
class EventFileWriter {
 public:
  // Begins the file with the record of its version. A file that is there is gone on with: its
  // records up to `step` stay, those beyond it, and one that is not whole, are cut. Throws
  // UserError.
  explicit EventFileWriter(std::string path, int64_t step = 0, size_t record_room = 4096);
  ~EventFileWriter();
  EventFileWriter(const EventFileWriter&) = delete;
  EventFileWriter& operator=(const EventFileWriter&) = delete;

  // A record holds the scalars of one step: Begin, Add for each, End, which writes it. Throws
  // UserError.
  void Begin(int64_t step, double wall_seconds);
  void Add(std::string_view tag, double value);
  void End();

 private:
  std::string path_;
  std::string event_;   // the protocol buffer
  std::string value_;   // one scalar of it
  std::string record_;  // with its lengths and checksums
  int fd_ = -1;
};

// CRC-32C (Castagnoli), as the records hold it, masked.
uint32_t MaskedCrc32c(std::string_view bytes);

}  // namespace cgrun

#endif  // CGRUN_IO_EVENT_FILE_H_
