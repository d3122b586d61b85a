// The program sinew.
#include "client/cli/commands/program.h"

int main(int argc, char** argv) {
  return sinew::cli::RunProgram(argc, argv);
}
