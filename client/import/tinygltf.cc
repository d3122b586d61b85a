#define TINYGLTF_IMPLEMENTATION
#include "client/import/tinygltf.h"
