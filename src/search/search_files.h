// The files that a search leaves beside its journal and the run folders of its trials.
#ifndef CGRUN_SEARCH_SEARCH_FILES_H_
#define CGRUN_SEARCH_SEARCH_FILES_H_

#include <string>

#include "src/results/search_result.h"

namespace cgrun {

// results.csv has a row a trial, the best first. It has no times: the same search gives the same
// bytes, however many processes ran it, and however often it was interrupted. times.csv has the
// times and the memory of the processes. Throws UserError.
void WriteTables(const SearchResult& result);
// Returns the text of results.csv.
std::string ResultsCsv(const SearchResult& result);

// Makes `best` a copy of the best trial's run folder. Throws UserError.
void CopyBest(const SearchResult& result);
void RemoveRunFolder(const std::string& folder);

}  // namespace cgrun

#endif  // CGRUN_SEARCH_SEARCH_FILES_H_
