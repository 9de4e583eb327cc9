"""Libraries that a program takes whole, for plugins that it loads.

    load("//bazel:whole_library.bzl", "whole_library")

    whole_library(
        name = "solutions",
        deps = ["//solutions"],
    )

A linker takes from an archive only what the program itself calls. A learner's library may call
anything; alwayslink would force it on all programs, also on those that replace a function.
"""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _whole_library_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    whole = []
    rest = []
    owners = [dep.label for dep in ctx.attr.deps]
    for dep in ctx.attr.deps:
        for given in dep[CcInfo].linking_context.linker_inputs.to_list():
            if given.owner not in owners:
                rest.append(given)
            elif given.owner == dep.label:
                whole.append(cc_common.create_linker_input(
                    owner = ctx.label,
                    libraries = depset([
                        cc_common.create_library_to_link(
                            actions = ctx.actions,
                            feature_configuration = features,
                            cc_toolchain = toolchain,
                            static_library = library.static_library,
                            pic_static_library = library.pic_static_library,
                            alwayslink = True,
                        )
                        for library in given.libraries
                    ]),
                ))
    linking = cc_common.create_linking_context(linker_inputs = depset(whole + rest))
    return [CcInfo(linking_context = linking)]

whole_library = rule(
    implementation = _whole_library_impl,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo], doc = "what is taken whole; their deps are not"),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
