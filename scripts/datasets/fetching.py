"""Fetching data sets: copies and downloads that are checked before they take their final name.

Entry point: `main`, which the scripts fetch-* call with the function that does their work.
"""

import argparse
import contextlib
import gzip
import hashlib
import http.client
import os
import pathlib
import shutil
import sys
import tempfile
import urllib.request
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


class FetchError(Exception):
    """Holds the message for the user; nothing was put in place."""


def digest(path, algorithm):
    """The hexadecimal digest of a file; of a .gz file, of what it holds, however it was packed."""
    state = hashlib.new(algorithm)
    opener = gzip.open if path.suffix == ".gz" and not path.name.endswith(".tar.gz") else open
    try:
        with opener(path, "rb") as file:
            while block := file.read(1 << 20):
                state.update(block)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise FetchError(f"{path} is damaged: {error}") from error
    return state.hexdigest()


def verify(path, checksum):
    """Raises FetchError unless the file has the checksum, `algorithm:digest`."""
    algorithm, expected = checksum.split(":")
    found = digest(path, algorithm)
    if found != expected:
        raise FetchError(f"{path} has the {algorithm} {found}, but it should be {expected}")


def is_intact(path, checksum):
    try:
        verify(path, checksum)
        return True
    except (FetchError, OSError):
        return False


@contextlib.contextmanager
def scratch(folder):
    """A temporary folder on the file system of `folder`, so that a rename out of it is atomic."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=folder) as name:
        yield pathlib.Path(name)


def obtain(name, source, urls, folder):
    """Copies `name` from the folder `source`, or downloads it from one of `urls`, into `folder`."""
    target = folder / name
    if source:
        if not (source / name).is_file():
            raise FetchError(f"{source / name} does not exist")
        shutil.copyfile(source / name, target)
        return target
    problems = []
    for url in urls:
        address = f"{url.rstrip('/')}/{name}"
        print(f"downloading {address}", flush=True)
        try:
            with urllib.request.urlopen(address, timeout=60) as reply, open(target, "wb") as file:
                shutil.copyfileobj(reply, file)
            return target
        except (OSError, http.client.HTTPException) as error:
            problems.append(f"{address}: {error}")
    raise FetchError("; ".join(problems) + "; `--from DIR` takes a copy that is there already")


def fetch_files(folder, checksums, source, urls):
    """Puts each file of `checksums` (name → checksum) into `folder`, unless it is there."""
    with scratch(folder) as temporary:
        for name, checksum in checksums.items():
            if is_intact(folder / name, checksum):
                print(f"{folder / name}: there already")
                continue
            verify(obtain(name, source, urls, temporary), checksum)
            os.replace(temporary / name, folder / name)
            print(f"{folder / name}: done")


def main(name, description, work, urls=()):
    """Parses the command line, calls work(folder, source, urls), and turns errors into a status."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--from", dest="source", type=pathlib.Path, metavar="DIR",
                        help="take the files from this folder")
    parser.add_argument("--to", type=pathlib.Path, metavar="DIR", default=ROOT / "datasets" / name,
                        help=f"put them here (default: datasets/{name})")
    if urls:
        parser.add_argument("--url", action="append", metavar="URL",
                            help=f"download from this address (default: {', '.join(urls)})")
    arguments = parser.parse_args()
    try:
        work(arguments.to, arguments.source, getattr(arguments, "url", None) or urls)
    except (FetchError, OSError) as error:
        sys.exit(f"fetch-{name}: error: {error}")
