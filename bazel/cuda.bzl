"""Kernels, compiled with nvcc.

    load("//bazel:cuda.bzl", "cuda_library", "portable_library")

    cuda_library(name = "kernels_cuda", srcs = ["kernels.cu"], hdrs = ["kernels.h"], deps = [...])
    portable_library(name = "layers", srcs = ["relu.cc"], hdrs = ["relu.h"], deps = [...])

A portable_library is one source for the host and for GPUs (compute/portable.h): nvcc compiles it
for GPUs, the C++ compiler otherwise.

Needs CUDA 12.0 or newer, the first that compiles C++20; cuda_libs.bzl lists where it searches.
Without it, or with --config=emulated, the target is skipped. Only kernels need nvcc: code that only
calls CUDA's runtime is a cc_library that depends on //gpu/device:cuda_runtime.
"""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")
load("@cuda//:defs.bzl", "CUDA_FOUND", "NVCC", "NVCC_VERSION")
load("//bazel:batch.bzl", "batch", "batched_library")
load("//bazel:defs.bzl", "REAL_CUDA_ONLY")

# A100, H100 and H200, and PTX for newer GPUs, which the driver translates.
_TARGETS = [
    "arch=compute_80,code=sm_80",
    "arch=compute_90,code=sm_90",
    "arch=compute_90,code=compute_90",
]
_ONE_TARGET = ["arch=compute_90,code=sm_90"]

def _objects_impl(ctx):
    compiler = find_cpp_toolchain(ctx).compiler_executable
    info = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    context = info.compilation_context
    targets = _ONE_TARGET if ctx.attr._one_kind_of_gpu[BuildSettingInfo].value else _TARGETS
    objects = []
    for source in ctx.files.srcs:
        # The name marks position-independent code for the linker.
        name = source.basename[:-len(source.extension)] + "pic.o"
        object = ctx.actions.declare_file(ctx.label.name + "/" + name)
        arguments = ctx.actions.args()
        arguments.add_all(["-ccbin", compiler, "-std=c++20", "-O3"])
        arguments.add_all(["-Xcompiler", "-fPIC,-Wall,-Wextra"])
        arguments.add_all(["-x", "cu", "--extended-lambda", "--expt-relaxed-constexpr"])
        arguments.add_all(targets, before_each = "-gencode")
        # fmt takes nvcc for one that knows no constexpr.
        arguments.add("-DFMT_USE_CONSTEXPR=1")
        # A newer nvcc may call the older GPUs deprecated.
        arguments.add_all(["-Werror", "all-warnings", "-Wno-deprecated-gpu-targets"])
        arguments.add("-I.")
        arguments.add_all(context.defines, before_each = "-D")
        arguments.add_all(context.system_includes, before_each = "-isystem")
        arguments.add_all(["-c", source, "-o", object])
        ctx.actions.run(
            executable = NVCC,
            arguments = [arguments],
            inputs = depset(ctx.files.srcs + ctx.files.hdrs, transitive = [context.headers]),
            outputs = [object],
            # Another release of nvcc makes another action.
            env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "RANKBOX_NVCC_VERSION": NVCC_VERSION},
            mnemonic = "Nvcc",
            progress_message = "Compiling %s with nvcc" % source.short_path,
        )
        objects.append(object)
    return [DefaultInfo(files = depset(objects))]

_cuda_objects = rule(
    implementation = _objects_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = [".cu", ".cc"]),
        "hdrs": attr.label_list(allow_files = True),
        "deps": attr.label_list(providers = [CcInfo]),
        "_one_kind_of_gpu": attr.label(default = "//bazel:one_kind_of_gpu"),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

def _objects(name, **kwargs):
    missing = [] if CUDA_FOUND else ["//bazel:cuda_toolkit_not_found_set_CUDA_HOME"]
    _cuda_objects(
        name = name,
        target_compatible_with = REAL_CUDA_ONLY + missing,
        visibility = ["//visibility:private"],
        **kwargs
    )

def cuda_library(name, srcs, hdrs = [], textual_hdrs = [], deps = [], **kwargs):
    """A cc_library whose sources are compiled with nvcc.

    Args:
      name: of the library.
      srcs: .cu files.
      hdrs: what it declares.
      textual_hdrs: what only its sources include, .cuh files.
      deps: cc_library targets; //gpu/device:cuda_runtime is one of them.
      **kwargs: as in cc_library.
    """
    _objects(name = name + "_objects", srcs = srcs, hdrs = hdrs + textual_hdrs, deps = deps)
    native.cc_library(
        name = name,
        srcs = [name + "_objects"],
        hdrs = hdrs,
        target_compatible_with = REAL_CUDA_ONLY,
        deps = deps,
        **kwargs
    )

def portable_library(
        name,
        srcs,
        deps,
        hdrs = [],
        host_srcs = [],
        copts = [],
        alwayslink = True,
        testonly = False,
        **kwargs):
    """A static cc_library whose .cc files nvcc or the C++ compiler compiles.

    The archive itself is NAME_nvcc or NAME_cc, which its package may use.

    Args:
      name: of the library.
      srcs: .cc files, and headers that only these include.
      deps: cc_library targets; //compute:loops is one of them.
      hdrs: what it declares.
      host_srcs: .cc files that call no for_each, and that the C++ compiler alone compiles.
      copts: for the C++ compiler.
      alwayslink: all of it is linked, so that a learner's library finds what it calls in the
        program that opens it.
      testonly, **kwargs: as in cc_library.
    """
    sources = [file for file in srcs if file.endswith(".cc")]
    headers = [file for file in srcs if file not in sources]
    _objects(
        name = name + "_objects",
        testonly = testonly,
        # nvcc reads the headers three times a file: once for the host, once for each kind of GPU.
        srcs = select({
            "//bazel:is_batched": batch(name + "_nvcc_batch", sources),
            "//conditions:default": sources,
        }),
        hdrs = hdrs + headers + select({
            "//bazel:is_batched": sources,
            "//conditions:default": [],
        }),
        deps = deps,
    )
    native.cc_library(
        name = name + "_nvcc",
        testonly = testonly,
        srcs = [name + "_objects"] + host_srcs,
        hdrs = hdrs,
        alwayslink = alwayslink,
        linkstatic = True,
        target_compatible_with = REAL_CUDA_ONLY,
        visibility = ["//visibility:private"],
        deps = deps,
    )
    batched_library(
        name = name + "_cc",
        tags = ["manual"],  # built for this library, where nvcc does not
        testonly = testonly,
        srcs = srcs + host_srcs,
        hdrs = hdrs,
        alwayslink = alwayslink,
        copts = copts,
        linkstatic = True,
        visibility = ["//visibility:private"],
        deps = deps,
    )
    native.cc_library(
        name = name,
        testonly = testonly,
        deps = select({
            "//bazel:is_real_cuda": [name + "_nvcc"],
            "//conditions:default": [name + "_cc"],
        }),
        **kwargs
    )
