"""cuda_library: compiles .cu files with nvcc into a library that cc_library can depend on.

Without --config=cuda a cuda_library is incompatible: `//...` leaves it out, and nothing is asked of
the toolkit.
"""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

NvccInfo = provider(fields = {
    "path": "where nvcc is",
    "version": "a file that is different for another version",
})
ArchitecturesInfo = provider(fields = {"numbers": "compute capabilities, e.g. 80"})

def _nvcc_impl(ctx):
    return [NvccInfo(path = ctx.attr.path, version = ctx.file.version)]

nvcc = rule(
    implementation = _nvcc_impl,
    attrs = {
        "path": attr.string(mandatory = True),
        "version": attr.label(mandatory = True, allow_single_file = True),
    },
)

def _missing_cuda_impl(ctx):
    fail(ctx.attr.message)

missing_cuda = rule(
    implementation = _missing_cuda_impl,
    doc = "Stands for what is not installed: fails where it is used.",
    attrs = {"message": attr.string(mandatory = True)},
    provides = [CcInfo, NvccInfo],
)

def _architectures_impl(ctx):
    return [ArchitecturesInfo(numbers = ctx.build_setting_value.split(","))]

cuda_architectures = rule(
    implementation = _architectures_impl,
    doc = "A flag: compute capabilities, comma-separated, ascending.",
    build_setting = config.string(flag = True),
)

def _generate_options(numbers):
    """Machine code for each architecture, and PTX of the last, which newer GPUs translate."""
    options = []
    for number in numbers:
        options.append("-gencode=arch=compute_{n},code=sm_{n}".format(n = number))
    options.append("-gencode=arch=compute_{n},code=compute_{n}".format(n = numbers[-1]))
    return options

def _compile(ctx, toolchain, context, source):
    """The action that compiles one .cu file; returns the object."""
    tool = ctx.attr.nvcc[NvccInfo]
    out = ctx.actions.declare_file("_objs/{}/{}.o".format(ctx.label.name, source.basename))
    arguments = ctx.actions.args()
    arguments.add_all(["-c", source, "-o", out])
    arguments.add_all(["-std=c++20", "-O3", "-ccbin", toolchain.compiler_executable])
    arguments.add_all(_generate_options(ctx.attr._architectures[ArchitecturesInfo].numbers))
    arguments.add("-Xcompiler=-fPIC,-Wall,-Wextra,-Werror")
    arguments.add_all(ctx.attr.copts)
    arguments.add_all(context.quote_includes, format_each = "-I%s")
    arguments.add_all(context.includes, format_each = "-I%s")
    arguments.add_all(context.system_includes, before_each = "-isystem")
    arguments.add_all(context.defines, format_each = "-D%s")
    ctx.actions.run(
        executable = tool.path,
        arguments = [arguments],
        inputs = depset(
            [source, tool.version],
            transitive = [context.headers, toolchain.all_files],
        ),
        outputs = [out],
        mnemonic = "NvccCompile",
        progress_message = "Compiling %s" % source.short_path,
        use_default_shell_env = True,
    )
    return out

def _link(ctx, toolchain, objects, contexts):
    """The linking context of the objects: a static and a dynamic library, as cc_library has them."""
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    context, _ = cc_common.create_linking_context_from_compilation_outputs(
        actions = ctx.actions,
        name = ctx.label.name,
        feature_configuration = features,
        cc_toolchain = toolchain,
        compilation_outputs = cc_common.create_compilation_outputs(
            objects = depset(objects),
            pic_objects = depset(objects),
        ),
        linking_contexts = contexts,
    )
    return context

def _cuda_library_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    own = CcInfo(compilation_context = cc_common.create_compilation_context(
        headers = depset(ctx.files.hdrs),
    ))
    merged = cc_common.merge_cc_infos(
        cc_infos = [own] + [dep[CcInfo] for dep in ctx.attr.deps],
    )
    compilation = merged.compilation_context
    objects = [_compile(ctx, toolchain, compilation, source) for source in ctx.files.srcs]
    linking = _link(ctx, toolchain, objects, [merged.linking_context])
    return [
        DefaultInfo(files = depset(objects)),
        CcInfo(compilation_context = compilation, linking_context = linking),
    ]

_cuda_library = rule(
    implementation = _cuda_library_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = [".cu"]),
        "hdrs": attr.label_list(allow_files = [".h", ".cuh"]),
        "deps": attr.label_list(providers = [CcInfo]),
        "nvcc": attr.label(providers = [NvccInfo]),
        "copts": attr.string_list(doc = "options of nvcc"),
        "_architectures": attr.label(default = "//scripts/bazel:cuda_architectures"),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    provides = [CcInfo],
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

def cuda_library(name, srcs, hdrs = [], deps = [], **kwargs):
    """A library of .cu files. `deps` may be any cc_library; @cuda//:cudart is always one of them."""
    _cuda_library(
        name = name,
        srcs = srcs,
        hdrs = hdrs,
        deps = deps + select({
            "//:with_cuda": ["@cuda//:cudart"],
            "//conditions:default": [],
        }),
        nvcc = select({
            "//:with_cuda": "@cuda//:nvcc",
            "//conditions:default": None,
        }),
        target_compatible_with = select({
            "//:with_cuda": [],
            "//conditions:default": ["@platforms//:incompatible"],
        }),
        **kwargs
    )
