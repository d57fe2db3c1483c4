#!/usr/bin/env python3
"""Images whose shapes, files or lists do not fit the model."""

import math
import re
import unittest

from cli_testing import MODEL, MistakesTestCase, npy, png


class ImageMistakesTest(MistakesTestCase):
    def test_an_image_with_its_channels_elsewhere_is_refused(self):
        (self.folder / "x.npy").write_bytes(npy((6, 4, 5, 3), bytes(6 * 4 * 5 * 3)))
        (self.folder / "y.npy").write_bytes(npy((6,), bytes(4 * 6), "<i4"))
        text = re.sub(r"data:\n.*\n.*\n",
                      "data: {train: {format: npy, image: x.npy, label: y.npy}}\n", MODEL)
        self.write("last.yaml", text.replace("[1, 4, 4]", "[3, 4, 5]"))
        error = self.refuses("train", "last.yaml", "--batch", "2")
        self.assertIn("input 'image' is uint8[3, 4, 5], but the data's 'image' is uint8[4, 5, 3]",
                      error)
        self.assertIn("perm: [0, 3, 1, 2]", error)
        self.write("right.yaml", text.replace("[1, 4, 4]", "[4, 5, 3]"))
        self.cgrun("train", "right.yaml", "--batch", "2", "--dry-run")

    def write_idx(self, name, sizes):
        header = bytes([0, 0, 8, len(sizes)]) + b"".join(size.to_bytes(4, "big") for size in sizes)
        (self.folder / name).write_bytes(header + bytes(math.prod(sizes)))

    def test_shapes_of_images_and_swapped_files(self):
        self.write_idx("images", [6, 5, 4])
        self.write_idx("labels", [6])
        idx = MODEL.replace("format: synthetic, samples: 65, classes: 3",
                            "format: idx, images: images, labels: labels")
        self.write("small.yaml", idx)
        self.assertIn("write `image: {type: uint8, shape: [1, 5, 4]}`", self.refused_alike())
        self.write("small.yaml", idx.replace("images: images, labels: labels",
                                             "images: labels, labels: images"))
        self.assertIn("exchange the two", self.refused_alike())

    def test_a_list_of_images_that_lie_elsewhere_is_one_error(self):
        for i in range(2):
            path = self.folder / f"photos/cat/{i}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(png(4, 4, range(16)))
        train = "{format: synthetic, samples: 65, classes: 3}"
        listed = (train, "{format: images, folder: photos, labels: list.csv}")
        self.write("list.csv", "".join(f"{i}.png,cat\n" for i in range(2000)))
        error = self.only(MODEL, listed)
        self.assertIn("'photos' holds no image '0.png'; and 1999 more such lines: '1.png' in line 2", error)
        self.assertIn("help: 'photos/cat/0.png' is there: images of a list lie in the folder itself", error)
        self.write("list.csv", "cat/0.png,cat\ncat/1.png,cat\n")
        self.assertIn("help: 'photos/cat/0.png' is there: ", self.only(MODEL, listed))


if __name__ == "__main__":
    unittest.main()
