"""Parts of messages."""


def counted(count: int, singular: str, plural: str = "") -> str:
    """A number with its noun, which may go on with a verb: "1 mesh is", "2 meshes are"."""
    return f"{count} {singular if count == 1 else plural or singular + 's'}"
