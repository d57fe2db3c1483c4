"""precompiled_headers: headers that most files include, read by the compiler once for all of them.

The target gives NAME.h, which includes them, and NAME.h.gch, what the compiler makes of it with the
flags of this build and `copts`. A file starts from there if it is compiled with
`-include PACKAGE/NAME.h` (.bazelrc) and its target depends on this one. Where its flags differ too
much, g++ reads NAME.h itself. With --define=precompiled=false NAME.h is empty.
"""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "CPP_COMPILE_ACTION_NAME")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _precompile(ctx, header):
    """Returns the file that `header` is compiled to."""
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    compiled = ctx.actions.declare_file(header.basename + ".gch")
    flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + ctx.attr.copts + ["-iquote", "."]
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        source_file = header.path,
        output_file = compiled.path,
        user_compile_flags = flags + ["-x", "c++-header"],
        use_pic = True,
    )
    action = {"action_name": CPP_COMPILE_ACTION_NAME, "feature_configuration": features}
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(**action),
        arguments = cc_common.get_memory_inefficient_command_line(variables = variables, **action),
        env = cc_common.get_environment_variables(variables = variables, **action),
        inputs = depset([header] + ctx.files.hdrs + ctx.files.srcs, transitive = [toolchain.all_files]),
        outputs = [compiled],
        mnemonic = "CppPrecompile",
        progress_message = "Precompiling %s" % header.short_path,
    )
    return compiled

def _precompiled_headers_impl(ctx):
    header = ctx.actions.declare_file(ctx.label.name + ".h")
    is_wanted = ctx.var.get("precompiled") != "false"
    lines = ["#include <{}>\n".format(name) for name in ctx.attr.headers]
    lines += ["#include \"{}\"\n".format(file.short_path) for file in ctx.files.hdrs]
    ctx.actions.write(header, "".join(lines) if is_wanted else "")
    files = depset([header] + ctx.files.hdrs + ctx.files.srcs + ([_precompile(ctx, header)] if is_wanted else []))
    return [
        DefaultInfo(files = files),
        CcInfo(compilation_context = cc_common.create_compilation_context(headers = files)),
    ]

precompiled_headers = rule(
    implementation = _precompiled_headers_impl,
    attrs = {
        "headers": attr.string_list(mandatory = True, doc = "names, as between < and >"),
        "hdrs": attr.label_list(allow_files = [".h"], doc = "headers of this project, behind those"),
        "srcs": attr.label_list(allow_files = [".h"], doc = "what they include"),
        "copts": attr.string_list(doc = "as of the files that start from these headers"),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    provides = [CcInfo],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
