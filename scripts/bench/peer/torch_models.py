"""The models of models/ in PyTorch, for scripts/bench/peers: `create` makes one.

Pixels come as bytes, and the models scale them, as those of the files do. Dropout, norms, losses,
optimizers and the decay of weights are those of the files (but for lenet's, of one layer alone).
`char-rnn` has PyTorch's own recurrent unit, which multiplies by the reset gate behind the product
with the state instead of before it: as many operations, in fewer calls than the file's.
"""

import torch
from torch import nn


class Pixels(nn.Module):
    """Makes of bytes numbers about 0, with a deviation of about 1."""

    def __init__(self, mean, deviation):
        super().__init__()
        for name, values in (("mean", mean), ("deviation", deviation)):
            values = torch.tensor(values).view(1, -1, 1, 1)
            self.register_buffer(name, values, persistent=False)

    def forward(self, images):
        return (images.float() / 255 - self.mean) / self.deviation


class Parallel(nn.Module):
    """Branches that all take the input; their outputs are joined."""

    def __init__(self, *branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        return torch.cat([branch(x) for branch in self.branches], 1)


class Residual(nn.Module):
    def __init__(self, body, shortcut, activation):
        super().__init__()
        self.body, self.shortcut, self.activation = body, shortcut, activation

    def forward(self, x):
        y = self.body(x)
        y += self.shortcut(x)
        return self.activation(y)


def norm_conv(inputs, outputs, kernel, stride, activation=None, padding=None, groups=1, eps=1e-5):
    padding = kernel // 2 if padding is None else padding
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, padding, groups=groups, bias=False),
              nn.BatchNorm2d(outputs, eps=eps)]
    return layers + ([activation(inplace=True)] if activation else [])


def multi_layer_perceptron(*units):
    layers = [nn.Flatten()]
    for inputs, outputs in zip(units, units[1:]):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return layers[:-1]


def lenet(classes):
    return nn.Sequential(
        nn.Conv2d(1, 20, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(20, 50, 5), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(800, 500), nn.ReLU(), nn.Linear(500, classes))


def cnn_cifar(classes):
    return nn.Sequential(
        nn.Conv2d(3, 32, 5, padding=2), nn.MaxPool2d(3, 2, ceil_mode=True), nn.ReLU(inplace=True),
        nn.Conv2d(32, 32, 5, padding=2), nn.ReLU(inplace=True), nn.AvgPool2d(3, 2, ceil_mode=True),
        nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(inplace=True), nn.AvgPool2d(3, 2, ceil_mode=True),
        nn.Flatten(), nn.Linear(1024, 64), nn.Linear(64, classes))


def alexnet(classes):
    return nn.Sequential(
        nn.Conv2d(3, 64, 11, 4, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2),
        nn.Conv2d(64, 192, 5, padding=2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2),
        nn.Conv2d(192, 384, 3, padding=1), nn.ReLU(inplace=True),
        nn.Conv2d(384, 256, 3, padding=1), nn.ReLU(inplace=True),
        nn.Conv2d(256, 256, 3, padding=1), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2),
        nn.Flatten(), nn.Dropout(0.5), nn.Linear(256 * 6 * 6, 4096), nn.ReLU(inplace=True),
        nn.Dropout(0.5), nn.Linear(4096, 4096), nn.ReLU(inplace=True), nn.Linear(4096, classes))


def vgg16(classes):
    layers, inputs = [], 3
    for outputs, depth in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(depth):
            layers += [nn.Conv2d(inputs, outputs, 3, padding=1), nn.ReLU(inplace=True)]
            inputs = outputs
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(
        *layers, nn.Flatten(), nn.Linear(512 * 7 * 7, 4096), nn.ReLU(inplace=True), nn.Dropout(0.5),
        nn.Linear(4096, 4096), nn.ReLU(inplace=True), nn.Dropout(0.5), nn.Linear(4096, classes))


def resnet(classes, depths, bottleneck):
    def block(inputs, middle, outputs, stride):
        relu = nn.ReLU
        if bottleneck:
            layers = (norm_conv(inputs, middle, 1, 1, relu) +
                      norm_conv(middle, middle, 3, stride, relu) + norm_conv(middle, outputs, 1, 1))
        else:
            layers = norm_conv(inputs, middle, 3, stride, relu) + norm_conv(middle, outputs, 3, 1)
        same = inputs == outputs and stride == 1
        shortcut = nn.Identity() if same else nn.Sequential(*norm_conv(inputs, outputs, 1, stride))
        return Residual(nn.Sequential(*layers), shortcut, nn.ReLU(inplace=True))

    layers, channels = [*norm_conv(3, 64, 7, 2, nn.ReLU), nn.MaxPool2d(3, 2, 1)], 64
    for stage, depth in enumerate(depths):
        middle = 64 << stage
        outputs = middle * (4 if bottleneck else 1)
        for i in range(depth):
            layers.append(block(channels, middle, outputs, 2 if stage > 0 and i == 0 else 1))
            channels = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(channels, classes))


def mobilenet_v2(classes):
    def bottleneck(inputs, outputs, stride, expand):
        middle = expand * inputs
        layers = norm_conv(inputs, middle, 1, 1, nn.ReLU6) if expand != 1 else []
        layers += norm_conv(middle, middle, 3, stride, nn.ReLU6, groups=middle)
        body = nn.Sequential(*layers, *norm_conv(middle, outputs, 1, 1))
        same = inputs == outputs and stride == 1
        return Residual(body, nn.Identity(), nn.Identity()) if same else body

    layers, channels = norm_conv(3, 32, 3, 2, nn.ReLU6), 32
    for expand, outputs, depth, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                           (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(depth):
            layers.append(bottleneck(channels, outputs, stride if i == 0 else 1, expand))
            channels = outputs
    return nn.Sequential(*layers, *norm_conv(320, 1280, 1, 1, nn.ReLU6), nn.AdaptiveAvgPool2d(1),
                         nn.Flatten(), nn.Dropout(0.2), nn.Linear(1280, classes))


def chain(inputs, *convolutions):
    """Puts convolutions in a row: (outputs, kernel, stride, padding), the last three 1, 1, 0 if missing."""
    layers = []
    for outputs, *rest in convolutions:
        kernel, stride, padding = rest + [1, 1, 0][len(rest):]
        layers += norm_conv(inputs, outputs, kernel, stride, nn.ReLU, padding, eps=1e-3)
        inputs = outputs
    return nn.Sequential(*layers)


def inception_v3(classes):
    def wide(outputs, n=7):
        return outputs, (1, n), 1, (0, n // 2)

    def high(outputs, n=7):
        return outputs, (n, 1), 1, (n // 2, 0)

    def pooled(inputs, outputs):
        return nn.Sequential(nn.AvgPool2d(3, 1, 1), chain(inputs, (outputs,)))

    def a(inputs, pool):
        return Parallel(chain(inputs, (64,)), chain(inputs, (48,), (64, 5, 1, 2)),
                        chain(inputs, (64,), (96, 3, 1, 1), (96, 3, 1, 1)), pooled(inputs, pool))

    def c(mid):
        return Parallel(chain(768, (192,)), chain(768, (mid,), wide(mid), high(192)),
                        chain(768, (mid,), high(mid), wide(mid), high(mid), wide(192)),
                        pooled(768, 192))

    def e(inputs):
        def split(inputs):
            return Parallel(chain(inputs, wide(384, 3)), chain(inputs, high(384, 3)))
        return Parallel(chain(inputs, (320,)), nn.Sequential(chain(inputs, (384,)), split(384)),
                        nn.Sequential(chain(inputs, (448,), (384, 3, 1, 1)), split(384)),
                        pooled(inputs, 192))

    reduction_b = Parallel(chain(288, (384, 3, 2)), chain(288, (64,), (96, 3, 1, 1), (96, 3, 2)),
                           nn.MaxPool2d(3, 2))
    reduction_d = Parallel(chain(768, (192,), (320, 3, 2)),
                           chain(768, (192,), wide(192), high(192), (192, 3, 2)), nn.MaxPool2d(3, 2))
    return nn.Sequential(
        chain(3, (32, 3, 2), (32, 3), (64, 3, 1, 1)), nn.MaxPool2d(3, 2),
        chain(64, (80,), (192, 3)), nn.MaxPool2d(3, 2), a(192, 32), a(256, 64), a(288, 64),
        reduction_b, c(128), c(160), c(160), c(192), reduction_d, e(1280), e(2048),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.5), nn.Linear(2048, classes))


class CharacterModel(nn.Module):
    """Scores of the next character, read on from the state of the call before."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(256, 64)
        self.cell = nn.GRU(64, 128, batch_first=True)
        self.scores = nn.Linear(128, 256)
        self.state = None

    def forward(self, characters):
        states, last = self.cell(self.embedding(characters.long()), self.state)
        self.state = last.detach()
        return self.scores(states).transpose(1, 2)


def lsgan():
    generator = nn.Sequential(
        nn.Linear(32, 128), nn.LeakyReLU(0.01), nn.Linear(128, 256), nn.LeakyReLU(0.01),
        nn.Linear(256, 64), nn.Tanh(), nn.Unflatten(1, (1, 8, 8)))
    discriminator = nn.Sequential(
        nn.Flatten(), nn.Linear(64, 256), nn.LeakyReLU(0.01), nn.Linear(256, 128),
        nn.LeakyReLU(0.01), nn.Linear(128, 1))
    return generator, discriminator


def dcgan():
    generator = nn.Sequential(
        nn.Linear(64, 6272, bias=False), nn.Unflatten(1, (128, 7, 7)), nn.BatchNorm2d(128),
        nn.ReLU(inplace=True), nn.ConvTranspose2d(128, 64, 4, 2, 1, bias=False),
        nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.ConvTranspose2d(64, 1, 4, 2, 1), nn.Tanh())
    discriminator = nn.Sequential(
        nn.Conv2d(1, 64, 4, 2, 1), nn.LeakyReLU(0.2, inplace=True),
        nn.Conv2d(64, 128, 4, 2, 1, bias=False), nn.BatchNorm2d(128),
        nn.LeakyReLU(0.2, inplace=True), nn.Flatten(), nn.Linear(6272, 1))
    return generator, discriminator


class Training:
    """Holds a network, its loss of (output, images, labels), and its optimizer."""

    def __init__(self, network, loss_of, optimizer_of, clip=None):
        self.network, self.loss_of, self.clip = network, loss_of, clip
        self.networks = [network]
        self.optimizer = optimizer_of(network.parameters())

    def step(self, images, labels):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss_of(self.network(images), images, labels)
        loss.backward()
        if self.clip:
            nn.utils.clip_grad_norm_(self.network.parameters(), self.clip)
        self.optimizer.step()
        return loss.item()


class PairTraining:
    """A generator and a discriminator, each with Adam: both are trained in a step."""

    def __init__(self, pixels, networks, latent, loss, rate):
        self.pixels, self.networks, self.latent, self.loss = pixels, networks, latent, loss
        self.generator, self.discriminator = networks
        self.optimizers = [torch.optim.Adam(network.parameters(), lr=rate, betas=(0.5, 0.999))
                           for network in networks]

    def step(self, images, _):
        drawn = self.generator(torch.randn(len(images), self.latent))
        real = self.discriminator(self.pixels(images))
        fake = self.discriminator(drawn.detach())
        told_apart = (self.loss(real, torch.ones_like(real)) +
                      self.loss(fake, torch.zeros_like(fake)))
        self.update(self.optimizers[1], told_apart)
        fake = self.discriminator(self.generator(torch.randn(len(images), self.latent)))
        fooled = self.loss(fake, torch.ones_like(fake))
        self.update(self.optimizers[0], fooled)
        return told_apart.item() + fooled.item()

    @staticmethod
    def update(optimizer, loss):
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()


def network_of(name, classes):
    return {
        "mlp": lambda: nn.Sequential(*multi_layer_perceptron(784, 512, 256, classes)),
        "lenet": lambda: nn.Sequential(nn.Upsample((28, 28), mode="bilinear"), *lenet(classes)),
        "lenet-mnist": lambda: lenet(classes),
        "cnn-cifar": lambda: cnn_cifar(classes),
        "alexnet": lambda: alexnet(classes),
        "vgg16": lambda: vgg16(classes),
        "resnet18": lambda: resnet(classes, (2, 2, 2, 2), False),
        "resnet50": lambda: resnet(classes, (3, 4, 6, 3), True),
        "mobilenet-v2": lambda: mobilenet_v2(classes),
        "inception-v3": lambda: inception_v3(classes),
        "autoencoder": lambda: nn.Sequential(
            *multi_layer_perceptron(784, 1000, 500, 250, 30),
            *multi_layer_perceptron(30, 250, 500, 1000, 784)),
    }[name]()


def loss_of_model(name):
    """Returns the loss of (output, images, labels)."""
    classify = nn.CrossEntropyLoss(label_smoothing=0.1 if name == "inception-v3" else 0.0)
    reconstruct = nn.BCEWithLogitsLoss()
    return {
        "autoencoder": lambda y, images, _: reconstruct(y, images.flatten(1) / 255),
        "char-rnn": lambda y, text, _: classify(y, text.long()),
    }.get(name, lambda y, _, labels: classify(y, labels))


def create(name, model):
    """Returns an object that trains the model, a row of models.py. Its `step(images, labels)` takes
    a step and returns the loss, and its `networks` are the modules."""
    pixels = Pixels(model.mean, model.deviation)
    pairs = {
        "lsgan": lambda: PairTraining(pixels, lsgan(), 32, nn.MSELoss(), 5e-4),
        "dcgan": lambda: PairTraining(pixels, dcgan(), 64, nn.BCEWithLogitsLoss(), 2e-4),
    }
    if name in pairs:
        return pairs[name]()
    optimizer_of = {
        "autoencoder": lambda params: torch.optim.Adam(params, lr=1e-3),
        "char-rnn": lambda params: torch.optim.Adam(params, lr=3e-3),
        "inception-v3": lambda params: torch.optim.RMSprop(params, lr=0.045, alpha=0.9, eps=1.0),
    }.get(name, lambda params: torch.optim.SGD(params, lr=0.01, momentum=0.9,
                                               weight_decay=model.decay))
    network = (CharacterModel() if name == "char-rnn" else
               nn.Sequential(pixels, network_of(name, model.classes)))
    clip = {"char-rnn": 5, "inception-v3": 2}.get(name)
    return Training(network, loss_of_model(name), optimizer_of, clip)
