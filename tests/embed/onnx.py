"""The smallest models that ONNX Runtime loads, byte by byte: what a user's folder might hold."""


def identity(name: str = "x") -> bytes:
    """A model that gives back its one input, 64-bit integers of shape (1, n)."""
    node = _field(1, name.encode()) + _field(2, b"y") + _field(4, b"Identity")
    graph = _field(1, node) + _field(2, b"g")
    graph += _field(11, _value(name)) + _field(12, _value("y"))
    return _number(1, 8) + _field(7, graph) + _field(8, _field(1, b"") + _number(2, 13))


def embedder(width: int) -> bytes:
    """A model with the inputs of MiniLM that gives each token ``width`` numbers."""
    nodes = [
        _node(["input_ids"], "f", "Cast", _attribute_int("to", 1)),
        _node(["f", "axes"], "u", "Unsqueeze"),
        _node(["u", "ones"], "y", "Mul"),
    ]
    axes = _number(1, 1) + _number(2, 7) + _field(8, b"axes") + _field(9, _int64(2))
    ones = b"".join(_number(1, n) for n in (1, 1, width)) + _number(2, 1) + _field(8, b"ones")
    ones += _field(9, b"\0\0\x80\x3f" * width)
    graph = b"".join(_field(1, node) for node in nodes) + _field(2, b"g")
    graph += _field(5, axes) + _field(5, ones)
    for name in ("input_ids", "attention_mask", "token_type_ids"):
        graph += _field(11, _value(name))
    graph += _field(12, _value("y", kind=1, dimensions=3))
    return _number(1, 8) + _field(7, graph) + _field(8, _field(1, b"") + _number(2, 13))


def _node(inputs: list[str], output: str, kind: str, attribute: bytes = b"") -> bytes:
    made = b"".join(_field(1, name.encode()) for name in inputs)
    made += _field(2, output.encode()) + _field(4, kind.encode())
    return made + (_field(5, attribute) if attribute else b"")


def _attribute_int(name: str, value: int) -> bytes:
    return _field(1, name.encode()) + _number(3, value) + _number(20, 2)


def _value(name: str, kind: int = 7, dimensions: int = 2) -> bytes:
    shape = b"".join(_field(1, _field(2, f"d{n}{name}".encode())) for n in range(dimensions))
    return _field(1, name.encode()) + _field(2, _field(1, _number(1, kind) + _field(2, shape)))


def _int64(value: int) -> bytes:
    return value.to_bytes(8, "little")


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _varint(value: int) -> bytes:
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])
