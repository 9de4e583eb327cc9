"""What training/ is compiled with where loops over elements matter."""

# Vectorized, as clang does anyway and g++ 12 when asked to; sqrt() need not set errno. (-O3 asks
# for it, too, but unrolls the short loops of max_pool first and then finds none to vectorize: 12
# and 36 us a sample forward and backward, instead of 5 and 10.)
# Not fused (-ffp-contract): results do not depend on whether the CPU can multiply and add at once.
FAST_LOOPS = ["-fno-math-errno", "-ffp-contract=off"] + select({
    "//training:is_clang": [],
    "//conditions:default": [
        "-ftree-vectorize",
        "-fvect-cost-model=dynamic",
    ],
})
