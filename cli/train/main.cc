// rankbox-train: trains a model on one or more ranks, on this build's backend.
#include "cli/train/program.h"

int main(int argc, char** argv) { return rankbox::train::run_program({argv, argv + argc}); }
