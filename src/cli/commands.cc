// The verbs, a line each.
#include "src/cli/command.h"

namespace cgrun {

const std::vector<CommandEntry>& Commands() {
  static const std::vector<CommandEntry> commands = {
      {"train", "train a model, evaluate it after each epoch, keep its weights",
       "cgrun train models/lenet.yaml\n"
       "cgrun train models/mlp.yaml --set train.epochs=2 --out runs/try --force\n"
       "cgrun train models/mlp.yaml --limit-batches 10 --out runs/short\n"
       "cgrun train models/mlp.yaml --dry-run\n"
       "cgrun train models/mlp.yaml --mode eager --out runs/eager\n"
       "cgrun train --resume runs/mlp\n",
       DefineTrain},
      {"eval", "metrics of a trained model on its test data",
       "cgrun eval models/lenet.yaml\n"
       "cgrun eval models/lenet.yaml --weights runs/tuned --split valid\n",
       DefineEval},
      {"predict", "classes or values for images, NumPy arrays and tables",
       "cgrun predict models/lenet.yaml digit.png\n"
       "cgrun predict models/lenet.yaml photos/ --weights runs/lenet --top 3\n"
       "cgrun predict models/regression.yaml table.csv --out predicted --json\n",
       DefinePredict},
      {"check", "what is wrong with a model: its file, data, gradients, devices",
       "cgrun check models/lenet.yaml\n"
       "cgrun check models/lenet.yaml --device cpu --json\n",
       DefineCheck},
      {"bench", "graph mode against eager mode, on the same kernels",
       "cgrun bench models/lenet.yaml\n"
       "cgrun bench models/lenet.yaml --infer --threads 1\n"
       "cgrun bench models/lenet.yaml --passes\n"
       "cgrun bench models/lenet.yaml --isolate --json bench.json\n",
       DefineBench},
      {"plan", "what a run will take in memory, without running it",
       "cgrun plan models/lenet.yaml\n"
       "cgrun plan models/lenet.yaml --batch 256 --full\n"
       "cgrun plan buffers.csv --capacity 1048576 --json offsets.json\n",
       DefinePlan},
      {"graph", "the computation graph, after any pass",
       "cgrun graph models/mlp.yaml\n"
       "cgrun graph models/mlp.yaml --stop-after-pass dead_code\n"
       "cgrun graph models/lenet.yaml --svg lenet.svg\n"
       "cgrun graph models/resnet50.yaml --entry eval --dot | dot -Tpdf -o resnet50.pdf\n",
       DefineGraph},
      {"compile", "compile a model to byte code", "cgrun compile models/lenet.yaml -o lenet.cgb\n",
       DefineCompile},
      {"disasm", "list the byte code of a compiled model", "cgrun disasm lenet.cgb\n",
       DefineDisasm},
      {"summary", "a model by layer: shapes, parameters, operations, bytes",
       "cgrun summary models/lenet.yaml\n", DefineSummary},
      {"ops", "the operators, or one of them in detail", "cgrun ops\ncgrun ops conv\n", DefineOps},
      {"devices", "the devices of this machine and this build", "cgrun devices\n", DefineDevices},
  };
  return commands;
}

}  // namespace cgrun
