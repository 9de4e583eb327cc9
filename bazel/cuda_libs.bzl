"""CUDA and NCCL, as this machine has them.

    cuda_libs(name = "cuda")        in WORKSPACE

makes @cuda//:cudart, @cuda//:cublas, @cuda//:nccl and @cuda//:found, a text that lists what was
found where. It searches CUDA_HOME (NCCL_HOME), and nothing else when that is set; otherwise the
usual places:

    CUDA    /usr/local/cuda, the newest /usr/local/cuda-*, /opt/cuda, the folder of nvcc on the
            PATH, Debian's folders
    NCCL    beside the toolkit, /usr/local, /opt/nccl, Debian's folders

If one is absent, its target fits no platform: Bazel skips its dependents. A build of such a target
by name reports //bazel:cuda_toolkit_not_found_set_CUDA_HOME or
//bazel:nccl_not_found_set_NCCL_HOME.

CUDA's runtime is linked statically, so that a program can be copied to a machine with only a
driver. NCCL (200 MB) is loaded from beside the program, or else from where it was found here.
"""

_OLDEST = (12, 0)  # the first that compiles C++20

def _first_existing(ctx, folders, name):
    """The first of the folders that holds a file of this name, or None."""
    for folder in folders:
        if ctx.path(folder + "/" + name).exists:
            return folder
    return None

def _architecture(ctx):
    """"x86_64", as in lib/x86_64-linux-gnu."""
    return ctx.execute(["uname", "-m"]).stdout.strip()

def _include_folders(home, arch):
    return [home + "/include", home + "/targets/" + arch + "-linux/include"]

def _library_folders(home, arch):
    return [
        home + "/" + folder
        for folder in [
            "lib64",
            "lib",
            "targets/" + arch + "-linux/lib",
            "lib/" + arch + "-linux-gnu",
        ]
    ]

def _by_version(path):
    """A key that sorts cuda-9.2 before cuda-13.0."""
    numbers = path.basename[len("cuda-"):].split(".")
    return [int(number) if number.isdigit() else 0 for number in numbers]

def _cuda_homes(ctx):
    home = ctx.os.environ.get("CUDA_HOME", "")
    if home:
        return [home]
    homes = ["/usr/local/cuda"]
    local = ctx.path("/usr/local")
    if local.exists:
        versions = [entry for entry in local.readdir() if entry.basename.startswith("cuda-")]
        homes += [str(entry) for entry in reversed(sorted(versions, key = _by_version))]
    homes.append("/opt/cuda")
    nvcc = ctx.which("nvcc")
    if nvcc != None:
        homes.append(str(nvcc.realpath.dirname.dirname))
        homes.append(str(nvcc.dirname.dirname))
    homes.append("/usr")
    return homes

def _nvcc_version(ctx, nvcc):
    """(13, 0), or None if it is unknown."""
    result = ctx.execute([nvcc, "--version"])
    words = result.stdout.replace(",", " ").split(" ")
    for i, word in enumerate(words[:-1]):
        if word == "release":
            parts = words[i + 1].split(".")
            if len(parts) >= 2 and parts[0].isdigit() and parts[1].isdigit():
                return (int(parts[0]), int(parts[1]))
    return None

def _find_cuda(ctx, arch):
    """The toolkit as a struct, or a string with the reason why there is none."""
    homes = _cuda_homes(ctx)
    for home in homes:
        include = _first_existing(ctx, _include_folders(home, arch), "cuda_runtime_api.h")
        nvcc = home + "/bin/nvcc"
        if include == None or not ctx.path(nvcc).exists:
            continue
        static = _first_existing(ctx, _library_folders(home, arch), "libcudart_static.a")
        shared = _first_existing(ctx, _library_folders(home, arch), "libcudart.so")
        if static == None and shared == None:
            continue
        version = _nvcc_version(ctx, nvcc)
        if version == None or version < _OLDEST:
            return "the CUDA toolkit in %s is %s; %d.%d or newer is needed" % (
                home,
                "of an unknown version" if version == None else "%d.%d" % version,
                _OLDEST[0],
                _OLDEST[1],
            )
        return struct(
            home = home,
            include = include,
            # nvcc finds its parts beside itself, and does not resolve links.
            nvcc = str(ctx.path(nvcc).realpath),
            static = static,
            shared = shared,
            version = version,
        )
    return "no CUDA toolkit (nvcc, cuda_runtime_api.h, libcudart) in " + ", ".join(homes)

def _find_nccl(ctx, arch, cuda):
    """NCCL as a struct, or a string with the reason why there is none."""
    home = ctx.os.environ.get("NCCL_HOME", "")
    if home:
        homes = [home]
    else:
        toolkit = [] if type(cuda) == type("") else [cuda.home]
        homes = toolkit + ["/usr/local", "/opt/nccl", "/usr"]
    for home in homes:
        include = _first_existing(ctx, _include_folders(home, arch), "nccl.h")
        for name in ["libnccl.so", "libnccl.so.2"]:
            folder = _first_existing(ctx, _library_folders(home, arch), name)
            if include != None and folder != None:
                return struct(home = home, include = include, folder = folder, name = name)
    return "no NCCL (nccl.h, libnccl.so) in " + ", ".join(homes)

_CUDART = """
cc_library(
    name = "cudart",
    srcs = {srcs},
    hdrs = glob(
        [
            "cuda/*.h",
            "cuda/*.hpp",
            "cuda/crt/**",
            "cuda/cccl/nv/**",
            "cuda/nv/**",
        ],
        allow_empty = True,
    ),
    includes = {includes},
    linkopts = {linkopts},
)
"""

# The archive alone, for shared libraries with kernels; none where the runtime is a shared library.
_CUDART_ARCHIVE = """
filegroup(
    name = "cudart_archive",
    srcs = {srcs},
)
"""

# Folders that every compiler searches by default; naming them again would confuse it.
_BUILTIN_INCLUDES = ["/usr/include", "/usr/local/include"]

_CUBLAS = """
cc_library(
    name = "cublas",
    linkopts = {linkopts},
    deps = [":cudart"],
)
"""

_NCCL = """
cc_library(
    name = "nccl",
    hdrs = ["nccl/nccl.h"],
    includes = ["nccl"],
    linkopts = {linkopts},
    deps = [":cudart"],
)
"""

_ABSENT = """
# {reason}
cc_library(
    name = "{name}",
    target_compatible_with = ["@rankbox//bazel:{constraint}"],
)
"""

def _cudart_target(ctx, cuda):
    if type(cuda) == type(""):
        return _ABSENT.format(
            name = "cudart",
            reason = cuda,
            constraint = "cuda_toolkit_not_found_set_CUDA_HOME",
        ) + _CUDART_ARCHIVE.format(srcs = [])
    includes = []
    if cuda.include not in _BUILTIN_INCLUDES:
        ctx.symlink(cuda.include, "cuda")
        includes = ["cuda", "cuda/cccl"]
    if cuda.static != None:
        ctx.symlink(cuda.static + "/libcudart_static.a", "lib/libcudart_static.a")
        return _CUDART.format(
            srcs = ["lib/libcudart_static.a"],
            includes = includes,
            linkopts = ["-ldl", "-lrt", "-lpthread"],
        ) + _CUDART_ARCHIVE.format(srcs = ["lib/libcudart_static.a"])
    return _CUDART.format(
        srcs = [],
        includes = includes,
        linkopts = [
            "-L" + cuda.shared,
            "-lcudart",
            "-Wl,-rpath,$$ORIGIN",
            "-Wl,-rpath," + cuda.shared,
        ],
    ) + _CUDART_ARCHIVE.format(srcs = [])

def _cublas_target(ctx, cuda, arch):
    reason = cuda
    if type(cuda) != type(""):
        folder = _first_existing(ctx, _library_folders(cuda.home, arch), "libcublas.so")
        if folder != None and ctx.path(cuda.include + "/cublas_v2.h").exists:
            rpaths = ["-Wl,-rpath,$$ORIGIN", "-Wl,-rpath," + folder]
            return _CUBLAS.format(linkopts = ["-L" + folder, "-lcublas"] + rpaths)
        reason = "no cuBLAS in " + cuda.home
    return _ABSENT.format(
        name = "cublas",
        reason = reason,
        constraint = "cublas_not_found_set_CUDA_HOME",
    )

def _nccl_target(ctx, nccl):
    if type(nccl) == type(""):
        return _ABSENT.format(
            name = "nccl",
            reason = nccl,
            constraint = "nccl_not_found_set_NCCL_HOME",
        )
    ctx.symlink(nccl.include + "/nccl.h", "nccl/nccl.h")
    return _NCCL.format(
        linkopts = [
            "-L" + nccl.folder,
            "-l:" + nccl.name,
            "-Wl,-rpath,$$ORIGIN",
            "-Wl,-rpath," + nccl.folder,
        ],
    )

def _cuda_libs_impl(ctx):
    arch = _architecture(ctx)
    cuda = _find_cuda(ctx, arch)
    nccl = _find_nccl(ctx, arch, cuda)
    cuda_found = type(cuda) != type("")
    nccl_found = type(nccl) != type("")

    ctx.file("WORKSPACE", "workspace(name = \"%s\")\n" % ctx.name)
    if cuda_found:
        cuda_text = "%d.%d in %s" % (cuda.version[0], cuda.version[1], cuda.home)
    else:
        cuda_text = cuda + "; set CUDA_HOME"
    nccl_text = "in %s" % nccl.folder if nccl_found else nccl + "; set NCCL_HOME"
    ctx.file("found.txt", "CUDA: %s\nNCCL: %s\n" % (cuda_text, nccl_text))
    ctx.file("BUILD", "package(default_visibility = [\"//visibility:public\"])\n" +
                      "filegroup(name = \"found\", srcs = [\"found.txt\"])\n" +
                      _cudart_target(ctx, cuda) + _cublas_target(ctx, cuda, arch) +
                       _nccl_target(ctx, nccl))

    ctx.file("defs.bzl", "".join([
        "%s = %r\n" % pair
        for pair in [
            ("CUDA_FOUND", cuda_found),
            ("NCCL_FOUND", nccl_found),
            ("CUDA_HOME", cuda.home if cuda_found else ""),
            ("NVCC", cuda.nvcc if cuda_found else ""),
            ("NVCC_VERSION", "%d.%d" % cuda.version if cuda_found else ""),
        ]
    ]))

cuda_libs = repository_rule(
    implementation = _cuda_libs_impl,
    environ = ["CUDA_HOME", "NCCL_HOME"],
    # Like system_libs: evaluated again whenever a Bazel server starts.
    local = True,
    configure = True,
)
