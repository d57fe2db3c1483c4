"""Model files that differ in one place, right and wrong ones: the form of each tells which."""

TRAINED = """cgrun: 1
inputs: {{x: {{shape: [4]}}, label: {{type: int32, shape: []}}}}
paths:
  p:
    ops:
      - logits: {{op: linear, in: x, units: 3{item}}}
    loss: {{op: softmax_cross_entropy, in: [logits, label]{loss}}}
    metrics: {{{metrics}}}
train: {{{train}optimizer: {{op: sgd, lr: 0.1{optimizer}}}}}
"""
FORWARD = """cgrun: 1
inputs: {{x: {{shape: [3, 8, 8]}}, z: {{shape: [4]}}}}
networks: {{n: {{in: a, ops: [relu]}}, two: {{in: [a, b], ops: [{{op: add, in: [a, b]}}]}}}}
blocks: {{b: {{params: {{k: 3, c: null}}, in: a, ops: [{body}]}}, plain: {{in: a, ops: [relu]}}}}
paths: {{p: {{mode: forward, ops: [{items}]}}}}
{section}
"""
PAIR = """cgrun: 1
inputs: {{x: {{shape: [4]}}}}
networks:
  g: {{in: z, ops: [{{op: linear, units: 4}}]}}
  d: {{in: x, ops: [{{op: linear, units: 1}}]}}
gan: {{generator: g, discriminator: d, latent: {{op: random_normal, shape: [4]}}, real: x{gan}}}
train: {{steps: 1, optimizer: {{op: sgd, lr: 0.1}}}}
"""
SYNTHETIC = "format: synthetic, samples: 8"

# Each change replaces the braces of a template, one in each model.
CHANGES = (
    (TRAINED, "train", (
        "", "epochs: 3, steps: 4, ", "epochs: , steps: 4, ", "clip: {norm: 1, value: 2}, ",
        "clip: {}, ",
        "clip: {norm: 1/2}, ", "clip: {norm: 0}, ", "time: 1h30m, ", "time: 90, ", "time: 1h 30, ",
        "time: '', ", "memory: 1.5GiB, ", "memory: 500, ", "memory: 2 GB, ", "memory: 5X, ",
        "batch: auto, memory: 1G, ", "batch: many, ", "precision: f16, ",
        "sequence: [p, {p: 2}], ",
        "sequence: [{p: 0}], ", "sequence: p, ", "sequence: [], ",
        "early_stop: {metric: loss}, ", "epoch: 3, ")),
    (TRAINED, "item", (
        ", init: zeros", ", init: {constant: 0.5}", ", init: {normal: {mean: 0, deviation: 1/3}}",
        ", init: {weight: {uniform: {low: -1}}, bias: zeros}", ", init: {nromal: {mean: 0}}",
        ", init: file", ", init: {zeros: }", ", init: {constant: }", ", init: {uniform: 3}",
        ", regularize: {l2: 1.0e-4, l1: 1/3}", ", regularize: {l3: 1}", ", regularize: 3",
        ", regularize: {bias: {l2: 0.1}}", ", frozen: true", ", frozen: {bias: true}",
        ", frozen: yes",
        ", lr: 0.1", ", lr: {bias: 2}", ", lr: -1", ", activation: relu", ", activation: rlu",
        ", weight: 2", ", if: true", ", if: '${a}'", ", repeat: 2", ", draws_as: logits",
        ", bias: false", ", bias: 'false'")),
    (TRAINED, "loss", (
        ", weight: 0.5", ", weight: 1/3", ", weight: x", ", activation: relu", ", ignore_label: -1",
        ", ignore_label: [1, 2]", ", class_weights: [1, 2, 1/3]")),
    (TRAINED, "metrics", (
        "accuracy: {in: [logits, label]}", "accuracy: [logits, label]",
        "top: {op: top_k_accuracy, in: [logits, label], k: 2}", "top: {in: [logits, label], k: 2}",
        "accuracy: {op: top_k_accuracy, in: [logits, label], k: 2}",
        "accuracy: {op: relu, in: [logits]}")),
    (TRAINED, "optimizer", (
        ", schedule: cosine", ", schedule: {cosine: {warmup: 1, final: 1/10}}", ", schedule: step",
        ", schedule: {step: {every: 10}}", ", schedule: {step: {factor: 0}}",
        ", schedule: {cosine: {warmup_steps: 4/2}}", ", schedule: {cosine: 1}", ", schedule: cosin",
        ", in: x", ", if: true")),
    (FORWARD, "items", (
        "{op: relu, in: x}, relu", "{op: relu, in: x}, y: relu", "{op: relu, in: x}, {y: relu}",
        "{y: {op: relu, in: x}}", "{op: relu, in: x}, {y: rleu}", "{op: relu, in: x}, linear",
        "{network: n, in: x}", "{y: {network: n, in: x}}", "{network: n, in: x, units: 3}",
        "{network: n, in: 3}", "{network: two, in: [x, 3]}", "{op: add, in: [x, 3]}",
        "{op: add, in: [x, 1/3]}", "{op: add, in: [x, a b]}", "{block: plain, in: x}",
        "{block: plain, in: x, repeat: 2}", "{block: plain, in: x, repeat: -1}",
        "{block: plain, in: x, repeat: two}", "{block: plain, in: x, with: {}}",
        "{block: plain, in: x, with: 3}", "{op: relu, in: x, with: {}}",
        "{op: relu, in: x, out: y}",
        "{network: n, in: x, out: y}", "{network: n, in: x, out: [y]}",
        "{network: n, in: x, out: 3}",
        "{network: n, in: x, unroll: 0}", "{network: n, in: x, unroll: 1}",
        "{op: relu, in: x, block: plain}", "{op: , in: x}", "{in: x}", "{y: {in: x}}", "{y: }",
        "{}",
        "3", "[relu]", "{a: relu, b: relu}", "{3a: {op: relu, in: x}}", "{op: {op: relu, in: x}}",
        "{op: relu, in: x, if: 3}", "{op: relu, in: x, if: }", "{op: relu, in: '${x}'}",
        "{name: y, op: relu, in: x}", "{op: sgd, in: x}", "{op: squared_error, in: [x, x]}",
        "{op: reduce_mean, in: x, axes: 1}", "{op: reduce_mean, in: x, axes: [1, 2]}",
        "{op: reduce_mean, in: x, axes: x}",
        "{op: conv, in: x, filters: 4, kernel: 3, padding: same}",
        "{op: conv, in: x, filters: 4, kernel: 3, padding: valid}",
        "{op: conv, in: x, filters: 4, kernel: [3, 3, 3]}",
        "{op: conv, in: x, filters: 4, kernel: [3, 1], padding: [1, 1, 0, 0]}",
        "{op: conv, in: x, filters: 4, kernel: 3, padding: [1, 1, 0]}",
        "{op: conv, in: x, filters: 4}", "{op: conv, in: x, filters: 4, kernel: 0}",
        "{op: conv, in: x, filters: [4], kernel: 3}", "{op: cast, in: x, dtype: f64}",
        "{op: cast, in: x, dtype: float}", "{op: reshape, in: x, shape: [-1]}",
        "{op: reshape, in: x, shape: [-2]}", "{op: reshape, in: x, shape: 192}",
        "{op: dropout, in: x, rate: 1/2}", "{op: dropout, in: x, rate: 1}",
        "{op: dropout, in: x, rate: -0.5}", "{op: random_normal, shape: [4]}",
        "{gradient: x, in: x}", "{gradient: [x], in: x}", "{op: normalize, in: x, mean: a}",
        "{op: normalize, in: x, scale: 1/255, mean: [1, 2, 1/3]}")),
    (FORWARD, "body", (
        "{op: conv, in: a, filters: '${c}', kernel: '${k}'}",
        "{op: conv, in: a, filters: '${2*c}', kernel: ['${k}', 1], bias: '${c == 4}'}",
        "{op: '${c}', in: a}", "{block: '${c}', in: a}", "{network: n, in: '${c}'}",
        "{op: relu, in: ['${c}']}", "'${c}'", "{y: '${c}'}", "{op: relu, in: a, if: '${c == 4}'}",
        "{op: linear, in: a, units: 3, init: {normal: {deviation: '1/${c}'}}, lr: '${c}',"
        " regularize: {l2: '${c}'}, frozen: '${c == 1}', activation: '${c}'}",
        "{op: relu, in: a}, {block: plain, repeat: '${k}'}")),
    (FORWARD, "section", (
        "model: a-b.c", "model: a b", "model: 3", "model: .x", "device: cpu", "device: cpu:1",
        "device: gpu", "zones: separate", "zones: none", "keep: [y]", "keep: grad(y",
        "keep: {a: b}",
        "inexact: true", "inexact: on", "plugins: a.so", "plugins: []", "plugins: ", "weights: w",
        "weights: [w]", "weights: ", "update: {y: 3}", "update: [y]", "nonsense: 1", "train: ",
        "train: {}", "train: 3", "gan: {}", "data: ", "data: {train: }", "data: {train: {}}",
        "data: {train: {format: none}}", "data: {train: {split: 0.1}}",
        f"data: {{train: {{{SYNTHETIC}}}, valid: {{split: 0.1}}}}",
        f"data: {{train: {{{SYNTHETIC}}}, valid: {{split: 1}}}}",
        f"data: {{train: {{{SYNTHETIC}}}, valid: {{split: 1/4}}}}",
        f"data: {{train: {{{SYNTHETIC}}}, valid: {{split: 0.1, {SYNTHETIC}}}}}",
        f"data: {{train: {{{SYNTHETIC}}}, valid: {{split: 0.1, seed: 3}}}}",
        f"data: {{train: {{{SYNTHETIC}}}, valid: 0.1}}",
        f"data: {{train: {{{SYNTHETIC}, seed: }}}}",
        "data: {train: {format: synthetic, samples: }}", f"data: {{tran: {{{SYNTHETIC}}}}}")),
    (PAIR, "gan", (
        "", ", loss: least_squares", ", loss: square", ", loss: wasserstein",
        ", loss: wasserstein, clip: 0.01", ", loss: wasserstein, gradient_penalty: 10",
        ", loss: wasserstein, clip: 0.1, gradient_penalty: 10", ", clip: 0.1",
        ", steps: {discriminator: 2}", ", steps: {discriminator: 0}", ", steps: {critic: 2}",
        ", optimizer: {op: adam}", ", optimizer: {discriminator: {op: adam}}",
        ", optimizer: {discriminator: adam, generator: sgd}", ", optimizer: {critic: {op: adam}}",
        ", optimizer: {op: adma}", ", optimizer: adam")),
)
USUAL = {"item": "", "loss": "", "metrics": "", "train": "", "optimizer": "", "section": "",
         "body": "{op: relu, in: a}", "items": "{y: {op: relu, in: x}}"}


def texts():
    """Yields the model file of each change."""
    for template, place, changes in CHANGES:
        for change in changes:
            yield template.format(**{**USUAL, place: change})
