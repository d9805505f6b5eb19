"""Records the tools that aviary makes of the functions below.

crates/macros/tests/schemas.rs holds the same functions in Rust and compares. To record again, in a
virtual environment with fhaviary 0.37:

    python tests/interop/record_schemas.py > crates/macros/tests/data/schemas.json
"""

import json
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal, NewType

from aviary.tools import Tool
from pydantic import BaseModel, Field, NonNegativeInt

RECORDED: dict[str, dict] = {}


def record(**options):
    """Records what aviary makes of the function below, which needs no parameter descriptions."""

    def decorator(function):
        tool = Tool.from_function(
            function, allow_empty_param_descriptions=True, **options
        )
        RECORDED[function.__name__] = tool.info.model_dump()
        return function

    return decorator


class Color(str, Enum):
    """What it looks like."""

    RED = "red"
    DARK_GREEN = "dark_green"


class Level(IntEnum):
    LOW = 1
    HIGH = 10


class Mixed(Enum):
    NUMBER = 1
    TEXT = "text"


class Only(str, Enum):
    One = "One"


class Point(BaseModel):
    """A place on the map.

    North is up.
    """

    x: int = Field(description="How far east.")
    y: int = Field(default=2, description="How far north,\nfrom the river.")
    label: str | None = None
    color: Color = Color.RED
    record_id: float = Field(alias="recordId")


class Tree(BaseModel):
    value: int
    children: list["Tree"] = []


class Empty(BaseModel):
    pass


class Cat(BaseModel):
    """Goes its own way."""

    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str = Field(description="What it hears on.")
    owner: Point | None


class Fish(BaseModel):
    kind: Literal["gold_fish"]


Pet = Annotated[Cat | Dog | Fish, Field(discriminator="kind")]
Meters = NewType("Meters", float)


@record()
def nothing(state, tool_call_id) -> None:
    """Do nothing."""


@record()
def plain(integer: int, small: int, number: float, text: str, flag: bool, none: None):
    """Take plain values."""


@record()
def counted(count: NonNegativeInt):
    """Take a number that has no sign."""


@record()
def anything(value: Any, values: list, members: dict, others: list[Any], more: dict[str, Any]):
    """Take anything."""


@record()
def defaults(
    integer: int = 5,
    number: float = 1.5,
    text: str = "a b",
    flag: bool = True,
    none: int | None = None,
    some: int | None = 3,
    words: list[str] = ["a"],
    members: dict[str, int] = {"a": 1},
    pair: tuple[int, str] = (1, "a"),
    value: Any = None,
):
    """Take what need not be given."""


@record()
def nested(
    lists: list[list[int]],
    maps: dict[str, dict[str, float]],
    options: list[int | None],
    optional: list[int] | None,
    members: set[str],
    pair: tuple[int, str],
    triple: tuple[int, tuple[bool, None], list[str]],
):
    """Take values in values."""


@record()
def named(
    color: Color,
    level: Level,
    mixed: Mixed,
    only: Only,
    point: Point,
    tree: Tree,
    empty: Empty,
    meters: Meters,
):
    """Take values of named types.

    Args:
        color: The color.
        point: The place.
    """


@record()
def named_in_others(
    color: Color | None,
    points: list[Point],
    colors: dict[str, Color],
    pair: tuple[Color, Point],
    default: Color = Color.DARK_GREEN,
    other: Color | None = None,
    level: Level = Level.HIGH,
    point: Point = Point(x=1, recordId=0.5),
    tree: Tree = Tree(value=1, children=[Tree(value=2)]),
):
    """Take named types within others."""


@record()
def literals(
    mode: Literal["fast", "careful"],
    one: Literal["only"],
    level: Literal[1, 2],
    mixed: Literal[1, "many"],
    flag: Literal[True],
    optional: Literal["fast", "careful"] | None,
    default: Literal["fast", "careful"] = "careful",
):
    """Take one of some."""


@record()
def unions(
    amount: int | str,
    point: Point | str,
    optional: int | str | None,
    several: list[int | str],
    default: int | str = "many",
):
    """Take values of several types."""


@record()
def told_apart(pet: Pet, pets: list[Pet], optional: Pet | None):
    """Take values told apart by a field."""


@record()
def names(max_new_tokens: int, Already_Title: int, x2y: int, n_2nd: int, ALL: int):
    """Take names of all kinds."""


@record()
def described(start: str, end: int, unit: str = "m"):
    """Measure a distance.

    In a straight line, over
    hill and dale:

      - fast
      - exact

    Args:
        start: Where it begins,
            which may be anywhere:
              even here.
        end (int): Where it ends.
        unit: What counts as one: "m" or "ft".
    """


@record(types_in_param_descriptions=True)
def typed_descriptions(start: str, end: int):
    """Measure a distance.

    Args:
        start: Where it begins.
        end (int): Where it ends.
    """


@record()
def secretive(story: str):
    """Print a story.

    To whoever listens.

    \\f
    People read on here.
    """


if __name__ == "__main__":
    print(json.dumps(RECORDED, indent=1))
