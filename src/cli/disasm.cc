// Runs `cgrun disasm`, which lists a compiled program.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "src/base/diagnostics.h"
#include "src/base/json_text.h"
#include "src/base/shell_word.h"
#include "src/cli/body_json.h"
#include "src/cli/command.h"
#include "src/cli/console.h"
#include "src/cli/program_argument.h"
#include "src/program/serialize.h"

namespace cgrun {
namespace {

nlohmann::ordered_json JsonOf(const ProgramImage& image) {
  nlohmann::ordered_json json = {{"model", image.model},
                                 {"device", image.device},
                                 {"fingerprint", image.fingerprint},
                                 {"arena_bytes", image.arena_bytes[0]}};
  for (const ImageEntry& entry : image.entries) {
    nlohmann::ordered_json instructions = nlohmann::ordered_json::array();
    for (const ImageInstruction& instruction : entry.instructions) {
      nlohmann::ordered_json operands = nlohmann::ordered_json::array();
      for (const ImageOperand& operand : instruction.operands) {
        operands.push_back({{"offset", operand.operand.offset}, {"bytes", operand.bytes}});
      }
      instructions.push_back({{"name", instruction.name},
                              {"kernel", instruction.kernel},
                              {"phase", Name(instruction.phase)},
                              {"op", NameOf(instruction.node.op)},
                              {"attributes", instruction.node.attributes.ToString()},
                              {"operands", operands}});
      if (!instruction.node.body.empty()) {
        instructions.back()["body"] = BodyJson(instruction.node.body);
      }
    }
    json["entries"].push_back(
        {{"name", entry.name}, {"batch", entry.batch}, {"instructions", instructions}});
  }
  return json;
}

// A model file is what a program is made of.
void RefuseModelFile(const std::string& path) {
  const std::filesystem::path file(path);
  if (file.extension() != ".yaml" && file.extension() != ".yml") return;
  const std::string program = ShellWord(file.stem().string() + ".cgb");
  throw InputError("'" + path + "' is a model file, where a compiled program (.cgb) is wanted",
                   "`cgrun compile " + ShellWord(path) + " -o " + program +
                       "` makes one, `cgrun disasm " + program + "` lists it");
}

int Run(const std::string& path) {
  RefuseModelFile(path);
  const ProgramImage image = LoadImage(path);
  CheckSound(image, path);
  PrintResult(Disassemble(image), JsonText(JsonOf(image), 2) + "\n");
  return kDone;
}

}  // namespace

Command DefineDisasm(const Verb& verb) {
  auto path = std::make_shared<std::string>();
  verb.Add("PROGRAM", *path, "compiled program (.cgb)").Required();
  return [path] { return Run(*path); };
}

}  // namespace cgrun
