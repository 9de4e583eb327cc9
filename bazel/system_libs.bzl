"""Libraries of the system as Bazel targets: deps = ["@system//:fmt"].

Each library is asked for with pkg-config, so that other distributions and local prefixes
(PKG_CONFIG_PATH) work too; header-only libraries without a pkg-config file are looked for under the
usual include folders. Headers count as system headers: our warnings stop at them.

A library that every build needs and that is absent is an error of one line. An optional one that is
absent becomes a target that fits no platform, so that Bazel skips whatever depends on it.
"""

# name: the target in @system.          modules: pkg-config names, the first known one is taken.
# header: proves a module is usable, and finds libraries without a pkg-config file.
# links: flags for the libraries whose flags we must know when there is no pkg-config file.
_LIBRARIES = [
    struct(name = "fmt", modules = ["fmt"], header = "fmt/core.h", package = "libfmt-dev", links = ["-lfmt"]),
    struct(name = "xtensor", modules = ["xtensor"], header = "xtensor/xarray.hpp", package = "libxtensor-dev", links = []),
    struct(name = "cli11", modules = ["CLI11"], header = "CLI/CLI.hpp", package = "libcli11-dev", links = []),
    struct(name = "json", modules = ["nlohmann_json"], header = "nlohmann/json.hpp", package = "nlohmann-json3-dev", links = []),
    struct(name = "tomlplusplus", modules = ["tomlplusplus"], header = "toml++/toml.h", package = "libtomlplusplus-dev", links = []),
    struct(name = "boost_context", modules = [], header = "boost/context/fiber.hpp", package = "libboost-context-dev", links = ["-lboost_context"]),
]

# Of rankbox-more and of tests (bazel/packages_more.txt), and of other backends.
_OPTIONAL_LIBRARIES = [
    struct(name = "openblas", modules = ["openblas"], header = "cblas.h", package = "libopenblas-dev", links = ["-lopenblas"]),
    struct(name = "doctest", modules = ["doctest"], header = "doctest/doctest.h", package = "doctest-dev", links = []),
    struct(name = "seccomp", modules = ["libseccomp"], header = "seccomp.h", package = "libseccomp-dev", links = ["-lseccomp"]),
    struct(name = "boost_property_tree", modules = [], header = "boost/property_tree/xml_parser.hpp", package = "libboost-dev", links = []),
    struct(name = "cpp_httplib", modules = ["cpp-httplib"], header = "httplib.h", package = "libcpp-httplib-dev", links = None),
    struct(name = "yaml_cpp", modules = ["yaml-cpp"], header = "yaml-cpp/yaml.h", package = "libyaml-cpp-dev", links = ["-lyaml-cpp"]),
    struct(name = "zlib", modules = ["zlib"], header = "zlib.h", package = "zlib1g-dev", links = ["-lz"]),
    struct(name = "benchmark", modules = ["benchmark"], header = "benchmark/benchmark.h", package = "libbenchmark-dev", links = ["-lbenchmark"]),
    struct(name = "mpi", modules = ["ompi-c", "mpi-c", "mpich"], header = "mpi.h", package = "libopenmpi-dev", links = None),
]

# Folders that every compiler searches by default.
_BUILTIN_INCLUDES = ["/usr/include", "/usr/local/include"]

def _pkg_config(ctx, module, arguments):
    result = ctx.execute(["pkg-config"] + arguments + [module])
    return result.stdout.strip() if result.return_code == 0 else None

def _find(ctx, lib):
    """Returns (include folders, defines, copts, linkopts), or None when the library is absent."""
    for module in lib.modules:
        cflags = _pkg_config(ctx, module, ["--cflags"])
        libs = _pkg_config(ctx, module, ["--libs"])
        if cflags == None or libs == None:
            continue
        folders = []
        defines = []
        for flag in cflags.split(" "):
            if flag.startswith("-I"):
                folders.append(flag[2:])
            elif flag.startswith("-D"):
                defines.append(flag[2:])

        # A .pc file may outlive the headers it describes (packages half removed).
        if [f for f in folders + _BUILTIN_INCLUDES if ctx.path(f + "/" + lib.header).exists]:
            return struct(
                folders = [f for f in folders if f not in _BUILTIN_INCLUDES],
                defines = defines,
                linkopts = [f for f in libs.split(" ") if f],
            )

    # Header-only libraries need no flags; for others they would have to be guessed.
    if lib.links != None:
        for folder in _BUILTIN_INCLUDES:
            if ctx.path(folder + "/" + lib.header).exists:
                return struct(folders = [], defines = [], linkopts = lib.links)
    return None

def _target(ctx, lib, found):
    # Bazel accepts include folders only inside the repository: link them in.
    includes = []
    for i, folder in enumerate(found.folders):
        if ctx.path(folder).exists:
            link = "include/%s/%d" % (lib.name, i)
            ctx.symlink(folder, link)
            includes.append(link)
    return """
cc_library(
    name = "{name}",
    hdrs = glob({globs}, allow_empty = True),
    includes = {includes},
    defines = {defines},
    linkopts = {linkopts},
)
""".format(
        name = lib.name,
        globs = [i + "/**" for i in includes],
        includes = includes,
        defines = found.defines,
        linkopts = found.linkopts,
    )

_ABSENT = """
# Not found on this machine: {name}: apt-get install {package}
cc_library(
    name = "{name}",
    target_compatible_with = ["@rankbox//bazel:incompatible"],
)
"""

def _system_libs_impl(ctx):
    if ctx.which("pkg-config") == None:
        fail("rankbox: pkg-config is not installed: apt-get install pkg-config")

    targets = []
    missing = []
    for lib in _LIBRARIES:
        found = _find(ctx, lib)
        if found == None:
            missing.append(lib)
        else:
            targets.append(_target(ctx, lib, found))
    if missing:
        fail("rankbox: missing %s: apt-get install %s" % (
            ", ".join([lib.name for lib in missing]),
            " ".join([lib.package for lib in missing]),
        ))

    for lib in _OPTIONAL_LIBRARIES:
        found = _find(ctx, lib)
        absent = _ABSENT.format(name = lib.name, package = lib.package)
        targets.append(_target(ctx, lib, found) if found else absent)

    ctx.file("WORKSPACE", "workspace(name = \"%s\")\n" % ctx.name)
    visibility = "package(default_visibility = [\"//visibility:public\"])\n"
    ctx.file("BUILD", visibility + "".join(targets))

system_libs = repository_rule(
    implementation = _system_libs_impl,
    environ = ["PKG_CONFIG_PATH", "PKG_CONFIG_LIBDIR"],
    # Evaluated again whenever a Bazel server starts (40 ms): packages change without Bazel's
    # knowledge. While one runs, the script `rankbox` evaluates it before each build:
    # `bazel sync --only=system`.
    local = True,
    configure = True,
)
