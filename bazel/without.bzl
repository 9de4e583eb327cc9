"""Libraries without some of those that they depend on.

    libraries_without(name = "training", libraries = ["//training"], without = ["//sim"])

For a program that implements a library's functions itself: linked with both, it would have each of
them twice. Headers stay.
"""

def _without_impl(ctx):
    merged = cc_common.merge_cc_infos(cc_infos = [each[CcInfo] for each in ctx.attr.libraries])
    absent = [each.label for each in ctx.attr.without]
    kept = [
        each
        for each in merged.linking_context.linker_inputs.to_list()
        if each.owner not in absent
    ]
    return [CcInfo(
        compilation_context = merged.compilation_context,
        linking_context = cc_common.create_linking_context(linker_inputs = depset(kept)),
    )]

libraries_without = rule(
    implementation = _without_impl,
    attrs = {
        "libraries": attr.label_list(providers = [CcInfo]),
        "without": attr.label_list(providers = [CcInfo]),
    },
)
