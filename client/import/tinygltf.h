// tinygltf.h - the glTF parser, without its image libraries.
//
// Compiled into our own library (tinygltf.cc), in a namespace of our own: Debian's libdraco exports
// an older tinygltf, and under one name whichever the loader meets first would be called with the
// structures of the other.
#pragma once

#define tinygltf sinew_tinygltf
#define TINYGLTF_NO_STB_IMAGE
#define TINYGLTF_NO_STB_IMAGE_WRITE
#include <tiny_gltf.h>
