// The verbs, a line each.
#include "src/cli/command.h"

namespace cgrun {

const std::vector<CommandEntry>& Commands() {
  static const std::vector<CommandEntry> commands = {
      {"train", "train a model, evaluate it after each epoch and keep its weights",
       "cgrun train models/lenet.yaml\n"
       "cgrun train models/lenet.yaml --set train.epochs=8 --out runs/longer\n"
       "cgrun train --resume runs/lenet --set train.epochs=8\n"
       "cgrun train models/lenet.yaml --batch 256 --out runs/big --dry-run\n",
       DefineTrain},
      {"search", "find the settings of a model with which it learns best",
       "cgrun search models/searches/lenet.yaml --dry-run\n"
       "cgrun search models/searches/regression.yaml --out searches/friedman --jobs 2\n"
       "cgrun search --resume searches/friedman\n",
       DefineSearch},
      {"runs", "list runs beside each other, with the settings in which they differ",
       "cgrun runs\n"
       "cgrun runs searches/friedman --html runs.html\n",
       DefineRuns},
      {"eval", "compute the metrics of a trained model on its test data",
       "cgrun eval models/lenet.yaml\n"
       "cgrun eval models/lenet.yaml --weights runs/longer --split valid\n",
       DefineEval},
      {"predict", "predict classes or values for images, NumPy arrays, tables and texts",
       "cgrun predict models/regression.yaml datasets/friedman/test.csv\n"
       "cgrun predict models/lenet.yaml datasets/digits-as-images/test/7 --top 3\n"
       "cgrun predict models/lenet.yaml datasets/digits-as-images/test --weights runs/longer "
       "--json\n",
       DefinePredict},
      {"generate", "draw samples of a trained generator as a sheet of images, or write text",
       "cgrun generate models/lsgan.yaml --scale 6\n"
       "cgrun generate models/lsgan.yaml -n 100 --seed 7 --out digits.png\n"
       "cgrun generate models/char-rnn.yaml --prompt Catherine -n 200 --temperature 0.7\n",
       DefineGenerate},
      {"check", "check a model: its file, data, gradients and devices",
       "cgrun check models/lenet.yaml\n"
       "cgrun check models/lenet.yaml --device cpu --json\n",
       DefineCheck},
      {"bench", "compare graph mode with eager mode on the same kernels",
       "cgrun bench models/lenet.yaml\n"
       "cgrun bench models/lenet.yaml --infer --threads 1\n"
       "cgrun bench models/lenet.yaml --passes\n"
       "cgrun bench models/lenet.yaml --isolate --out benches/lenet\n",
       DefineBench},
      {"plan", "plan the memory of a run, without running it",
       "cgrun plan models/lenet.yaml --batch 256\n"
       "cgrun plan models/lenet.yaml --compare --html plan.html\n"
       "cgrun plan models/lenet.yaml --why classify.pool1\n"
       "cgrun plan buffers.csv --capacity 2097152 --out packed.csv\n",
       DefinePlan},
      {"graph", "show the computation graph, after any pass",
       "cgrun graph models/lenet.yaml\n"
       "cgrun graph models/lenet.yaml --stop-after-pass dead_code\n"
       "cgrun graph models/lenet.yaml --svg lenet-graph.svg\n"
       "cgrun graph models/lenet.yaml --entry eval --dot lenet.dot\n",
       DefineGraph},
      {"compile", "compile a model to byte code",
       "cgrun compile models/lenet.yaml -o lenet.cgb\n"
       "cgrun compile models/lenet.yaml -o lenet256.cgb --batch 256 --device cpu\n",
       DefineCompile},
      {"disasm", "list the byte code of a compiled model",
       "cgrun disasm lenet.cgb\n"
       "cgrun disasm lenet.cgb --json program.json\n",
       DefineDisasm},
      {"import", "turn an ONNX model into a model file and its weights",
       "cgrun import mnist.onnx -o mnist.yaml\n"
       "cgrun import tagger.onnx -o tagger.yaml --dim sequence=128 --explain\n",
       DefineImport},
      {"export", "write a trained model as ONNX, for other programs to run",
       "cgrun export models/lenet.yaml -o lenet.onnx\n"
       "cgrun export runs/lenet --batch 1 --force\n"
       "cgrun export models/lsgan.yaml -o digits.onnx --path generate\n",
       DefineExport},
      {"summary", "list the layers of a model: shapes, parameters, operations, bytes",
       "cgrun summary models/lenet.yaml\n"
       "cgrun summary models/resnet50.yaml --batch 1 --set 'inputs.image.shape=[3,256,256]'\n",
       DefineSummary},
      {"ops", "list the operators, or describe one of them",
       "cgrun ops\n"
       "cgrun ops conv\n"
       "cgrun ops softmax_cross_entropy --json\n"
       "cgrun ops --schema > model.schema.json\n",
       DefineOps},
      {"devices", "list the devices of this machine and this build",
       "cgrun devices\n"
       "cgrun devices --json devices.json\n",
       DefineDevices},
      {"completion", "write a script that completes command lines in bash, zsh or fish",
       "cgrun completion bash > ~/.local/share/bash-completion/completions/cgrun\n"
       "cgrun completion zsh > ~/.zfunc/_cgrun\n"
       "cgrun completion fish > ~/.config/fish/completions/cgrun.fish\n",
       DefineCompletion},
  };
  return commands;
}

}  // namespace cgrun
