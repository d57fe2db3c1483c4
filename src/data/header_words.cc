// Two lists, which are searched.
#include "src/data/header_words.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "src/base/synonyms.h"
#include "src/data/text_number.h"

namespace cgrun {

bool IsLabelHeader(std::string_view name) {
  constexpr std::string_view kWords[] = {"label",     "labels", "class", "classname", "category",
                                         "sentiment", "target", "tag",   "topic",     "intent"};
  return std::ranges::find(kWords, PlainName(Trimmed(name))) != std::end(kWords);
}

bool IsTextHeader(std::string_view name) {
  constexpr std::string_view kWords[] = {"text",    "texts",    "sentence", "sentences", "review",
                                         "reviews", "content",  "message",  "comment",   "document",
                                         "tweet",   "question", "query",    "utterance", "title",
                                         "body",    "headline", "sms",      "input"};
  return std::ranges::find(kWords, PlainName(Trimmed(name))) != std::end(kWords);
}

}  // namespace cgrun
