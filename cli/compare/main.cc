// rankbox-compare-BACKEND: the course's and your topologies against the native collective.
#include "cli/compare/program.h"

int main(int argc, char** argv) { return rankbox::cli::run_compare_program({argv, argv + argc}); }
