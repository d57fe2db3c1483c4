"""cuda_toolkit: the external repository of the CUDA toolkit that is installed on this machine.

The repository exists without a toolkit too, so that every build can name it; its targets then fail
when they are used, and say what is missing.
"""

_HEADER = """
package(default_visibility = ["//visibility:public"])

load("@cgrun//scripts/bazel:cuda.bzl", "missing_cuda", "nvcc")
"""

# The headers are the ones that host code includes; nvcc brings its own way to all of them.
_TOOLKIT = """
nvcc(
    name = "nvcc",
    path = "{root}/bin/nvcc",
    version = "version.txt",
)

cc_library(
    name = "cudart",
    hdrs = glob(
        [
            "include/*.h",
            "include/*.hpp",
            "include/crt/**",
        ],
        exclude = ["include/cudnn*"],
    ),
    includes = ["include"],
    linkopts = ["-L{lib}", "-lcudart", "-Wl,-rpath,{lib}"],
)

cc_library(
    name = "cublas",
    linkopts = ["-lcublas"],
    deps = [":cudart"],
)
"""

_CUDNN = """
cc_library(
    name = "cudnn",
    hdrs = glob(["cudnn/*.h"]),
    includes = ["cudnn"],
    linkopts = ["-L{lib}", "-lcudnn", "-Wl,-rpath,{lib}"],
    deps = [":cudart"],
)
"""

_MISSING = """
missing_cuda(
    name = "{name}",
    message = "{message}",
)
"""

def _missing(name, message):
    return _MISSING.format(name = name, message = message)

def _find_library(ctx, file, folders):
    """The first folder that has the file, or None."""
    for folder in folders:
        if ctx.path(folder + "/" + file).exists:
            return folder
    return None

def _cudnn(ctx, root, lib, multiarch):
    """The target of cuDNN, which is installed in the toolkit's folders or in the system's."""
    headers = _find_library(ctx, "cudnn.h", [
        root + "/include",
        "/usr/include",
        "/usr/include/" + multiarch,
    ])
    library = _find_library(ctx, "libcudnn.so", [lib, "/usr/lib/" + multiarch])
    if not headers or not library:
        return _missing("cudnn", "cuDNN (cudnn.h and libcudnn.so) was not found beside the CUDA " +
                                 "toolkit in " + root + " or in the system's folders")
    for header in ctx.path(headers).readdir():
        if header.basename.startswith("cudnn"):
            ctx.symlink(header, "cudnn/" + header.basename)
    return _CUDNN.format(lib = library)

def _toolkit(ctx, root):
    multiarch = ctx.execute(["uname", "-m"]).stdout.strip() + "-linux-gnu"
    lib = root + "/lib64"
    ctx.symlink(root + "/include", "include")

    # An input of every action that runs nvcc, so that a cache tells two toolkits apart.
    ctx.file("version.txt", ctx.execute([root + "/bin/nvcc", "--version"]).stdout)
    return _TOOLKIT.format(root = root, lib = lib) + _cudnn(ctx, root, lib, multiarch)

def _cuda_toolkit_impl(ctx):
    found = ctx.execute([ctx.path(Label("@cgrun//scripts/bazel:find_cuda.sh"))])
    if found.return_code == 0:
        targets = _toolkit(ctx, found.stdout.strip())
    else:
        message = ("the CUDA toolkit was not found: there is no bin/nvcc in CUDA_HOME, " +
                   "/usr/local/cuda, /usr/local/cuda-* or /usr/lib/cuda")
        targets = "".join([_missing(n, message) for n in ["nvcc", "cudart", "cublas", "cudnn"]])
    ctx.file("BUILD", _HEADER + targets, executable = False)

cuda_toolkit = repository_rule(
    implementation = _cuda_toolkit_impl,
    environ = ["CUDA_HOME"],
    local = True,
    doc = "Targets: cudart, cublas, cudnn for cc_library, nvcc for cuda_library.",
)
