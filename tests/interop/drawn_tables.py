"""Tables drawn at random with types of every kind, ways to write them as Parquet, and what Volary should read in them."""

import base64
import datetime
import decimal
import json
import math
import uuid

import pyarrow as pa
import pyarrow.types as kinds

# Every value in a column of its own row: the columns that make a row one of TRL.
COMPLETION = ["step", "prompt", "completion", "advantage"]
FLAT = [
    pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(),
    pa.float32(), pa.float64(), pa.string(), pa.large_string(), pa.binary(), pa.binary(3),
    pa.date32(), pa.date64(), pa.timestamp("s"), pa.timestamp("ms"), pa.timestamp("us"), pa.timestamp("ns"),
    pa.timestamp("us", "UTC"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"), pa.decimal128(5, 2),
    pa.decimal128(30, 2), pa.decimal256(50, 3), pa.null(), pa.dictionary(pa.int32(), pa.string()),
]  # fmt: skip
KEYS = [pa.string(), pa.string(), pa.int32(), pa.int64(), pa.bool_(), pa.float64(), pa.date32()]
TEXTS = ["", "a", "é", "日本😀", "x" * 300, "a\0b", '"\\', "NaN"]
FLOATS = [0.0, -0.0, float("nan"), float("inf"), float("-inf"), 0.5, 1e30]
ENCODINGS = {
    "int": ["DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT", "PLAIN"],
    "float": ["BYTE_STREAM_SPLIT", "PLAIN"],
    "text": ["DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY", "PLAIN"],
    "bool": ["RLE", "PLAIN"],
}


class Draw:
    def __init__(self, random):
        self.random = random
        self.one = random.choice

    def type(self, depth=2):
        """A type of a column."""
        if depth == 0 or self.random.random() < 0.5:
            return self.one(FLAT)
        inner = self.type(depth - 1)
        return self.one([
            pa.list_(inner),
            pa.list_(inner),
            pa.large_list(inner),
            pa.list_(inner, 2),
            pa.struct([("f0", inner), ("f1", self.type(depth - 1))]),
            pa.map_(self.one(KEYS), inner),
        ])

    def value(self, kind, gaps=0.2):
        """A value of a type, as pyarrow takes it."""
        if kinds.is_null(kind) or self.random.random() < gaps:
            return None
        if kinds.is_map(kind):
            keys = {repr(key): key for key in [self.value(kind.key_type, 0) for _ in range(self.random.randrange(3))]}
            return [(key, self.value(kind.item_type)) for key in keys.values()]
        if kinds.is_struct(kind):
            return {field.name: self.value(field.type) for field in kind}
        if kinds.is_nested(kind):
            length = 2 if kinds.is_fixed_size_list(kind) else self.one([0, 0, 1, 2, 5])
            return [self.value(kind.value_type) for _ in range(length)]
        return self.flat(kind)

    def flat(self, kind):
        if kinds.is_boolean(kind):
            return self.random.random() < 0.5
        if kinds.is_integer(kind):
            low, high = (0, 2**kind.bit_width - 1)
            if kinds.is_signed_integer(kind):
                low, high = (-(2 ** (kind.bit_width - 1)), 2 ** (kind.bit_width - 1) - 1)
            return self.one([low, high, 0, 1, self.random.randint(low, high)])
        if kinds.is_floating(kind):
            return pa.scalar(self.one([*FLOATS, self.random.random()]), kind).as_py()
        if kinds.is_date(kind):
            return datetime.date(2026, 1, 1) + datetime.timedelta(days=self.random.randint(-90_000, 60_000))
        if kinds.is_timestamp(kind):
            second = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=self.random.randint(-(10**9), 4 * 10**9))
            second = second.replace(microsecond=0 if kind.unit == "s" else self.random.randrange(1000) * 1000)
            return second.replace(tzinfo=datetime.timezone.utc if kind.tz else None)
        if kinds.is_time(kind):
            return datetime.time(self.random.randrange(24), 5, 59, self.random.randrange(1000) * 1000)
        if kinds.is_decimal(kind):
            digits = 10 ** (kind.precision - 1)
            return decimal.Decimal(f"{self.random.randint(-digits, digits)}E-{kind.scale}")
        if kind == pa.uuid():
            return uuid.UUID(int=self.random.getrandbits(128))
        if kinds.is_fixed_size_binary(kind):
            return self.one([b"abc", b"\xff\0\1"])
        if kinds.is_binary(kind):
            return self.one([b"", b"ok", b"\xff\0", bytes(300)])
        return self.one(TEXTS)

    def table(self):
        """The types of columns, and their values by name."""
        rows = self.one([1, 3, 20, 150])
        gaps = self.one([0, 0.2, 1])
        # pyarrow writes no lists of extension types.
        drawn = [self.one([self.type()] * 19 + [pa.uuid()]) for _ in range(self.random.randint(1, 4))]
        types = {f"c{number}": kind for number, kind in enumerate(drawn)}
        columns = {name: [self.value(kind, gaps) for _ in range(rows)] for name, kind in types.items()}
        told = [[1.0 * row for row in range(rows)], ["ask"] * rows, ["say"] * rows, [0.5] * rows]
        names = dict(zip(COMPLETION, told, strict=True))
        return types, columns, pa.table({**names, **{name: pa.array(columns[name], kind) for name, kind in types.items()}})

    def options(self, types):
        """How a table is written."""
        chance = self.random.random
        options = {
            "compression": self.one(["none", "snappy", "gzip", "zstd", "lz4"]),
            "data_page_version": self.one(["1.0", "2.0"]),
            "version": self.one(["1.0", "2.4", "2.6"]),
            "use_dictionary": chance() < 0.5,
            "write_statistics": chance() < 0.5,
            "row_group_size": self.one([None, 7, 100]),
            "data_page_size": self.one([None, 50, 1000]),
            "write_page_index": chance() < 0.3,
            "write_page_checksum": chance() < 0.3,
            "store_schema": chance() < 0.5,
            "use_compliant_nested_type": chance() < 0.7,
        }
        if not options["use_dictionary"]:
            encodings = {name: self.one(ENCODINGS[kind]) for name, kind in map(encodable, types.items()) if kind}
            options["column_encoding"] = encodings or None
        return options


def encodable(column):
    """The name of a column, and the key of its encodings."""
    name, kind = column
    if str(kind) in ["int8", "int16", "int32", "int64", "uint32"]:
        return name, "int"
    if str(kind) in ["float", "double"]:
        return name, "float"
    if str(kind) in ["string", "large_string", "binary"]:
        return name, "text"
    return name, "bool" if kinds.is_boolean(kind) else None


def as_read(value, kind):
    """A value as Volary reads it."""
    if value is None:
        return None
    if kinds.is_map(kind):
        read = [(as_read(key, kind.key_type), as_read(item, kind.item_type)) for key, item in value]
        return {key if isinstance(key, str) else json.dumps(key): item for key, item in read}
    if kinds.is_struct(kind):
        # A table gives all structs of a column the members of all of them, so null means that there is none.
        members = {field.name: as_read(value[field.name], field.type) for field in kind}
        return {name: member for name, member in members.items() if member is not None}
    if kinds.is_nested(kind):
        return [as_read(item, kind.value_type) for item in value]
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return base64.b64encode(value).decode()
    if isinstance(value, datetime.datetime):
        unit = "milliseconds" if kind.unit in ["s", "ms"] else "microseconds"
        zone = " +00:00" if kind.tz else ""
        return f"{value.replace(tzinfo=None).isoformat(' ', unit)}{zone}"
    if isinstance(value, datetime.time):
        return value.isoformat("milliseconds" if kind == pa.time32("ms") else "microseconds")
    if isinstance(value, decimal.Decimal | datetime.date | uuid.UUID):
        return format(value, "f") if isinstance(value, decimal.Decimal) else str(value)
    if kind == pa.float32():
        # The shortest number of 32 bits.
        return float(pa.scalar(value, kind).cast(pa.string()).as_py()) if math.isfinite(value) else value
    return value


def is_same(found, expected):
    """Whether two values are equal, with the same types; NaN is NaN, and zeros have a sign."""
    if isinstance(expected, dict):
        return isinstance(found, dict) and found.keys() == expected.keys() and all(is_same(found[key], expected[key]) for key in expected)
    if isinstance(expected, list):
        return isinstance(found, list) and len(found) == len(expected) and all(map(is_same, found, expected))
    if isinstance(expected, float) and isinstance(found, float):
        return math.isnan(found) and math.isnan(expected) or (found, math.copysign(1, found)) == (expected, math.copysign(1, expected))
    return type(found) is type(expected) and found == expected
