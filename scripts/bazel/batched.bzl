"""batched_library: a cc_library whose sources are compiled several at a time.

A small source spends most of its compile time on headers and templates that its neighbours need, too. So a batch of
sources is written to one file, which is compiled in their place. #line directives keep the messages of the compiler
about the sources themselves. If two sources of a batch give one name to two things, the compiler reports it.

--define=batched=false compiles each source by itself and finds one that leaves an include to its neighbour.
"""

BATCH_SIZE = 8

def _batch_impl(ctx):
    command = """for source in "$@"; do
  printf '\\n#line 1 "%s"\\n' "$source" && cat "$source" || exit 1
done > '{}'""".format(ctx.outputs.out.path)
    ctx.actions.run_shell(
        command = command,
        arguments = [file.path for file in ctx.files.srcs],
        inputs = ctx.files.srcs,
        outputs = [ctx.outputs.out],
        mnemonic = "Batch",
        progress_message = "Writing %s" % ctx.outputs.out.short_path,
    )

_batch = rule(
    implementation = _batch_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = [".cc"], mandatory = True),
        "out": attr.output(mandatory = True),
    },
)

def batched_library(name, srcs, **kwargs):
    """A cc_library of `srcs`, which are compiled in batches of at most BATCH_SIZE."""
    batches = []
    count = (len(srcs) + BATCH_SIZE - 1) // BATCH_SIZE
    for i in range(count):
        out = "%s_batch_%d.cc" % (name, i)
        _batch(
            name = "%s_batch_%d" % (name, i),
            srcs = srcs[len(srcs) * i // count:len(srcs) * (i + 1) // count],
            out = out,
            visibility = ["//visibility:private"],
        )
        batches.append(out)
    native.cc_library(
        name = name,
        srcs = select({
            "//:one_by_one": srcs,
            "//conditions:default": batches,
        }),
        **kwargs
    )
