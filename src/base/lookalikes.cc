// This file holds the tables, and finds the blanks between groups of three digits.
#include "src/base/lookalikes.h"

#include <algorithm>

namespace cgrun {
namespace {

struct Lookalike {
  std::string_view character;
  std::string_view plain;
  std::string_view name;
};

constexpr Lookalike kLookalikes[] = {
    {"\u2212", "-", "U+2212, a minus sign"},
    {"\u2010", "-", "U+2010, another hyphen"},
    {"\u2011", "-", "U+2011, a non-breaking hyphen"},
    {"\u2013", "-", "U+2013, a dash"},
    {"\u2014", "-", "U+2014, a dash"},
    {"\u00a0", "", "U+00A0, a no-break space"},
    {"\u2007", "", "U+2007, a figure space"},
    {"\u2009", "", "U+2009, a thin space"},
    {"\u202f", "", "U+202F, a narrow no-break space"},
    {"\u200b", "", "U+200B, a space without width"},
};

// Maps letters of ASCII to the same letters with a mark.
struct Composition {
  std::string_view mark;  // that stands behind a letter
  std::string_view letters;
  std::string_view composed;  // in the order of `letters`
};

// The canonical compositions of Unicode with one mark in common use.
constexpr Composition kCompositions[] = {
    {"\u0300", "AEINOUWYaeinouwy", "ÀÈÌǸÒÙẀỲàèìǹòùẁỳ"},
    {"\u0301", "ACEGIKLMNOPRSUWYZacegiklmnoprsuwyz", "ÁĆÉǴÍḰĹḾŃÓṔŔŚÚẂÝŹáćéǵíḱĺḿńóṕŕśúẃýź"},
    {"\u0302", "ACEGHIJOSUWYZaceghijosuwyz", "ÂĈÊĜĤÎĴÔŜÛŴŶẐâĉêĝĥîĵôŝûŵŷẑ"},
    {"\u0303", "AEINOUVYaeinouvy", "ÃẼĨÑÕŨṼỸãẽĩñõũṽỹ"},
    {"\u0304", "AEGIOUYaegiouy", "ĀĒḠĪŌŪȲāēḡīōūȳ"},
    {"\u0306", "AEGIOUaegiou", "ĂĔĞĬŎŬăĕğĭŏŭ"},
    {"\u0307", "ABCDEFGHIMNOPRSTWXYZabcdefghmnoprstwxyz",
     "ȦḂĊḊĖḞĠḢİṀṄȮṖṘṠṪẆẊẎŻȧḃċḋėḟġḣṁṅȯṗṙṡṫẇẋẏż"},
    {"\u0308", "AEHIOUWXYaehiotuwxy", "ÄËḦÏÖÜẄẌŸäëḧïöẗüẅẍÿ"},
    {"\u0309", "AEIOUYaeiouy", "ẢẺỈỎỦỶảẻỉỏủỷ"},
    {"\u030a", "AUauwy", "ÅŮåůẘẙ"},
    {"\u030b", "OUou", "ŐŰőű"},
    {"\u030c", "ACDEGHIKLNORSTUZacdeghijklnorstuz", "ǍČĎĚǦȞǏǨĽŇǑŘŠŤǓŽǎčďěǧȟǐǰǩľňǒřšťǔž"},
    {"\u0323", "ABDEHIKLMNORSTUVWYZabdehiklmnorstuvwyz", "ẠḄḌẸḤỊḲḶṂṆỌṚṢṬỤṾẈỴẒạḅḍẹḥịḳḷṃṇọṛṣṭụṿẉỵẓ"},
    {"\u0326", "STst", "ȘȚșț"},
    {"\u0327", "CDEGHKLNRSTcdeghklnrst", "ÇḐȨĢḨĶĻŅŖŞŢçḑȩģḩķļņŗşţ"},
    {"\u0328", "AEIOUaeiou", "ĄĘĮǪŲąęįǫų"},
};

size_t LengthOfCharacter(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

// "" where there is none.
std::string_view ComposedOf(char letter, const Composition& composition) {
  std::string_view rest = composition.composed;
  for (const char other : composition.letters) {
    const std::string_view composed = rest.substr(0, LengthOfCharacter(rest[0]));
    if (other == letter) return composed;
    rest.remove_prefix(composed.size());
  }
  return "";
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

size_t CountDigits(std::string_view text) {
  return static_cast<size_t>(std::ranges::find_if_not(text, IsDigit) - text.begin());
}

// "1234.5" of "1 234.5"; "" of what has no such groups.
std::string WithoutBlanks(std::string_view text) {
  const size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  const size_t head = CountDigits(text.substr(sign));
  std::string number(text.substr(0, sign + head));
  text.remove_prefix(sign + head);
  if (head == 0 || head > 3 || !text.starts_with(' ')) return "";
  while (text.starts_with(' ')) {
    if (CountDigits(text.substr(1)) != 3) return "";
    number += text.substr(1, 3);
    text.remove_prefix(4);
  }
  return number + std::string(text);
}

}  // namespace

PlainNumber WithoutLookalikes(std::string_view text) {
  PlainNumber number{std::string(text), ""};
  for (const Lookalike& other : kLookalikes) {
    size_t at = number.text.find(other.character);
    if (at == std::string::npos) continue;
    number.note += (number.note.empty() ? "'" : "; '") + std::string(other.character) + "' is " +
                   std::string(other.name);
    for (; at != std::string::npos; at = number.text.find(other.character)) {
      number.text.replace(at, other.character.size(), other.plain);
    }
  }
  return number;
}

std::string WithComposedLetters(std::string_view text) {
  std::string whole(text);
  for (const Composition& composition : kCompositions) {
    const size_t size = composition.mark.size();
    for (size_t at = whole.find(composition.mark, 1); at != std::string::npos;
         at = whole.find(composition.mark, at + 1)) {
      const std::string_view composed = ComposedOf(whole[at - 1], composition);
      if (!composed.empty()) whole.replace(at - 1, size + 1, composed);
    }
  }
  return whole;
}

std::string SameLettersHelp(std::string_view name, std::span<const std::string> known) {
  const std::string composed = WithComposedLetters(name);
  const auto same = std::ranges::find_if(known, [&](const std::string& other) {
    return other != name && WithComposedLetters(other) == composed;
  });
  if (same == known.end()) return "";
  return "'" + *same + "' has the same letters, encoded otherwise: " +
         (name == composed ? "its marks are characters of their own (Unicode's NFD), and here a "
                             "letter has its mark in it (NFC)"
                           : "a letter has its mark in it (Unicode's NFC), and here marks are "
                             "characters of their own (NFD)") +
         "; copy the name, or convert a file: `uconv -x any-nfc < FILE > NEW`";
}

PlainNumber ReadPlainNumber(std::string_view text) {
  PlainNumber number = WithoutLookalikes(text);
  const std::string joined = WithoutBlanks(number.text);
  if (joined.empty()) return number;
  const std::string_view blanks = "no blank stands between the thousands of a number";
  number.note += (number.note.empty() ? "" : "; ") + std::string(blanks);
  number.text = joined;
  return number;
}

}  // namespace cgrun
