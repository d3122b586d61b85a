// main.cc - the program sinewd.
#include "server/process/program.h"

int main(int argc, char** argv) {
  return sinew::server::RunProgram(argc, argv);
}
