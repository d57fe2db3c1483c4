// Finds where the files of a zip archive lie in it. This is the only code that sees minizip.
#ifndef CGRUN_TORCH_ZIP_ENTRIES_H_
#define CGRUN_TORCH_ZIP_ENTRIES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "src/io/mapped_file.h"

namespace cgrun::torch {

struct ZipEntry {
  std::span<const std::byte> bytes;  // of the mapping
  uint32_t crc = 0;
};

// The entries by name. InputError for an archive that is damaged, for an entry that is compressed,
// encrypted or outside of the file, and for a name that stands twice. The contents of the entries
// are not looked at.
std::map<std::string, ZipEntry> ZipEntries(const MappedFile& file);

// InputError where the contents are not as the archive's checksum says.
void CheckContents(const ZipEntry& entry, const std::string& name, const std::string& path);

}  // namespace cgrun::torch

#endif  // CGRUN_TORCH_ZIP_ENTRIES_H_
