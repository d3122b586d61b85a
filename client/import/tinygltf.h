// tinygltf.h - the glTF parser, without its image libraries.
//
// Compiled into our own library (tinygltf.cc) instead of linked: Debian's libdraco, which Assimp
// brings along, exports an older tinygltf under the same names, and whichever shared library the
// loader meets first would be called with the structures of the other.
#pragma once

#define TINYGLTF_NO_STB_IMAGE
#define TINYGLTF_NO_STB_IMAGE_WRITE
#include <tiny_gltf.h>
