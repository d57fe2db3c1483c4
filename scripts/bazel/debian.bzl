"""debian_library: one external repository for one library that a Debian package installed.

A repository is fetched when a target needs it, so a missing package stops only what uses it; the
error then names the package and the command that installs it.
"""

def _multiarch(ctx):
    """The folder name of this machine's libraries, e.g. x86_64-linux-gnu."""
    return ctx.execute(["uname", "-m"]).stdout.strip() + "-linux-gnu"

def _fail_missing(ctx, what):
    fail("""
`{what}` was not found: the Debian package `{package}` is missing. Install it with
    apt-get install {package}
or install all that is needed with
    scripts/install-packages
""".format(what = what, package = ctx.attr.package))

def _matches(ctx, folder, pattern):
    """The paths in `folder` that `pattern` names; `*` may stand in it once."""
    if "*" not in pattern:
        path = ctx.path(folder + "/" + pattern)
        return [path] if path.exists else []
    prefix, suffix = pattern.split("*")
    directory = ctx.path(folder)
    entries = directory.readdir() if directory.exists else []
    return [e for e in entries if e.basename.startswith(prefix) and e.basename.endswith(suffix)]

def _link(ctx, folder, pattern, into):
    """Links what `pattern` names in `folder` into `into`; returns whether there was anything."""
    paths = _matches(ctx, folder, pattern)
    for path in paths:
        ctx.symlink(path, into + "/" + path.basename)
    return len(paths) > 0

def _link_or_fail(ctx, folder, pattern, into):
    if not _link(ctx, folder, pattern, into):
        _fail_missing(ctx, folder + "/" + pattern)

def _target(name, parts, lib_dir):
    """The BUILD text of one target. A part is a library's file, a label or a `-linker option`."""
    deps = [part for part in parts if part[0] in ":@"] + [":headers"]
    files = ["lib/" + part for part in parts if part.startswith("lib")]
    options = [part.format(lib_dir = lib_dir) for part in parts if part.startswith("-")]

    # A shared library is named by its folder and not by Bazel's link to it, so that the binary
    # finds it through the loader's usual ways wherever the package is installed.
    for shared in [part for part in parts if part.endswith(".so")]:
        options = ["-L" + lib_dir, "-l" + shared[len("lib"):-len(".so")]] + options
    return """
cc_library(
    name = "{name}",
    srcs = {files},
    linkopts = {options},
    deps = {deps},
)
""".format(
        name = name,
        files = [f for f in files if f.endswith(".a")],
        options = options,
        deps = deps,
    )

def _version(ctx):
    """The upstream version of the package: "0.7.0" of "0.7.0+dfsg-8+b1"."""
    found = ctx.execute(["dpkg-query", "--show", "--showformat=${Version}", ctx.attr.package])
    version = found.stdout.split(":")[-1].split("-")[0].split("+")[0]
    return version if found.return_code == 0 and version else "unknown"

# A target of its own: nothing but what names the version is built again with it.
_VERSION = """
cc_library(
    name = "version",
    hdrs = ["version/{header}"],
    includes = ["version"],
)
"""

def _debian_library_impl(ctx):
    multiarch = _multiarch(ctx)
    include_dir = ctx.attr.include_dir.format(multiarch = multiarch)
    lib_dir = ctx.attr.lib_dir.format(multiarch = multiarch)
    for header in ctx.attr.headers:
        _link_or_fail(ctx, include_dir, header, "include")
    build = """
package(default_visibility = ["//visibility:public"])

cc_library(
    name = "headers",
    hdrs = glob(["include/**"]),
    includes = ["include"],
)
"""
    for name, parts in ctx.attr.targets.items():
        for part in parts:
            if part.startswith("lib"):
                _link_or_fail(ctx, lib_dir, part, "lib")
        build += _target(name, parts, lib_dir)
    if ctx.attr.version_macro:
        header = ctx.attr.version_macro.lower() + ".h"
        text = "#define {} \"{}\"\n".format(ctx.attr.version_macro, _version(ctx))
        ctx.file("version/" + header, text, executable = False)
        build += _VERSION.format(header = header)
    ctx.file("BUILD", build, executable = False)

debian_library = repository_rule(
    implementation = _debian_library_impl,
    doc = "A library of an installed Debian package. In folders, {multiarch} is x86_64-linux-gnu.",
    local = True,
    attrs = {
        "package": attr.string(mandatory = True, doc = "the package that an error asks for"),
        "headers": attr.string_list(mandatory = True, doc = "folders and files in include_dir"),
        "version_macro": attr.string(
            doc = "for a library whose headers tell no version: `:version` has a header of this " +
                  "name in lower case, which defines it as the package's version",
        ),
        "include_dir": attr.string(default = "/usr/include"),
        "lib_dir": attr.string(default = "/usr/lib/{multiarch}"),
        "targets": attr.string_list_dict(
            mandatory = True,
            doc = "name → library files, labels, `-linker option`; {lib_dir} is replaced",
        ),
    },
)
