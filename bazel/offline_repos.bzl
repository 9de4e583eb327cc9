"""The external repositories that Bazel itself needs, without a network.

Every Bazel 4 build resolves @platforms, @rules_java, @rules_proto, @rules_cc and
@remote_coverage_tools, and would download them. Debian and Ubuntu package the first three (and
bazel_skylib); a few lines here replace the last two:

* rules_cc: the packaged one is newer than the packaged Bazel and does not load in it. Only its
  re-export of the native rules is needed.
* remote_coverage_tools: mentioned by every test target, used only by `bazel coverage`.
"""

# Debian splits the rule sets over .../rules and .../tools; other layouts are tried so that a
# release that moves them still works. The first folder that exists wins.
_PREFIXES = [
    "/usr/share/bazel",
    "/usr/lib/bazel",
    "/usr/local/share/bazel",
]

def _packaged_repo_impl(ctx):
    tried = []
    for prefix in _PREFIXES:
        for folder in ctx.attr.folders:
            path = ctx.path(prefix + "/" + folder)
            if path.exists:
                for entry in path.readdir():
                    if entry.basename not in ["WORKSPACE", "WORKSPACE.bazel"]:
                        ctx.symlink(entry, entry.basename)
                ctx.file("WORKSPACE", "workspace(name = \"%s\")\n" % ctx.name)
                return
            tried.append(str(path))
    fail("rankbox: the Bazel rules '%s' are not installed: apt-get install %s (looked in %s)" %
         (ctx.name, ctx.attr.package, ", ".join(tried)))

_packaged_repo = repository_rule(
    implementation = _packaged_repo_impl,
    attrs = {
        "folders": attr.string_list(mandatory = True, doc = "below each of _PREFIXES, best first"),
        "package": attr.string(mandatory = True, doc = "the Debian package that brings it"),
    },
    # Evaluated again whenever a Bazel server starts: packages change without Bazel's knowledge.
    local = True,
)

def offline_repos():
    _packaged_repo(
        name = "platforms",
        folders = ["tools/platforms", "rules/platforms", "platforms"],
        package = "bazel-platforms",
    )
    _packaged_repo(
        name = "bazel_skylib",
        folders = ["tools/skylib", "rules/skylib", "skylib"],
        package = "bazel-skylib",
    )
    _packaged_repo(
        name = "rules_java",
        folders = ["rules/java", "tools/java", "rules_java"],
        package = "bazel-rules-java",
    )
    _packaged_repo(
        name = "rules_proto",
        folders = ["rules/proto", "tools/proto", "rules_proto"],
        package = "bazel-rules-proto",
    )
    native.local_repository(name = "rules_cc", path = "bazel/rules_cc")
    native.local_repository(name = "remote_coverage_tools", path = "bazel/remote_coverage_tools")
