// rankbox-train: trains a model on one rank or many, on whatever backend this is built for.
#include "cli/train/program.h"

int main(int argc, char** argv) { return rankbox::train::run_program({argv, argv + argc}); }
