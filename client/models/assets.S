// The files of assets/ as read-only data, each from NAME to NAME_end. Paths are from the root of the repository.
    .macro asset name file
    .globl \name
    .globl \name\()_end
    .hidden \name
    .hidden \name\()_end
\name:
    .incbin "\file"
\name\()_end:
    .endm

    .section .rodata
    asset sinew_arm_rig, "client/models/assets/arm.sinewrig"
    asset sinew_arm_poses, "client/models/assets/arm.poses"
    asset sinew_hand_rig, "client/models/assets/hand.sinewrig"
    asset sinew_hand_poses, "client/models/assets/hand.poses"

// Without this the linker would make the stack executable.
    .section .note.GNU-stack, "", %progbits
