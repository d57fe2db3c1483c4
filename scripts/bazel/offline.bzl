"""The repositories that Bazel 4.2 would download, as Debian's files or as the little that is used.

Debian's bazel-rules-cc is too new for Bazel 4.2.3, so `@rules_cc` re-exports the native rules.
"""

load("@bazel_tools//tools/build_defs/repo:utils.bzl", "maybe")

_RULES_CC = """
cc_binary = native.cc_binary
cc_import = native.cc_import
cc_library = native.cc_library
cc_proto_library = native.cc_proto_library
cc_test = native.cc_test
cc_toolchain = native.cc_toolchain
cc_toolchain_suite = native.cc_toolchain_suite
fdo_prefetch_hints = native.fdo_prefetch_hints
fdo_profile = native.fdo_profile
objc_library = native.objc_library
"""

# Every cc_test refers to the report generator, and runs it under `bazel coverage` alone.
_COVERAGE = """
filegroup(
    name = "coverage_report_generator",
    visibility = ["//visibility:public"],
)

filegroup(
    name = "lcov_merger",
    visibility = ["//visibility:public"],
)
"""

def _written_repository_impl(ctx):
    for path, text in ctx.attr.files.items():
        ctx.file(path, text, executable = False)

_written_repository = repository_rule(
    implementation = _written_repository_impl,
    attrs = {"files": attr.string_dict(mandatory = True, doc = "path → text")},
)

def offline_repositories():
    maybe(
        _written_repository,
        name = "rules_cc",
        files = {
            "BUILD": "",
            "cc/BUILD": "",
            "cc/defs.bzl": _RULES_CC,
        },
    )
    maybe(_written_repository, name = "remote_coverage_tools", files = {"BUILD": _COVERAGE})
    maybe(native.local_repository, name = "rules_java", path = "/usr/share/bazel/rules/java")
    maybe(native.local_repository, name = "rules_proto", path = "/usr/share/bazel/rules/proto")
    maybe(native.local_repository, name = "bazel_skylib", path = "/usr/share/bazel/tools/skylib")
    maybe(native.local_repository, name = "platforms", path = "/usr/share/bazel/tools/platforms")
