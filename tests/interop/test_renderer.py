"""Renderer files written by Volary and by aviary are the same, and each reads the other's."""

import json
import math
import zipfile

import pytest
from aviary.core import Frame, Renderer
from pydantic import BaseModel


class Report(BaseModel):
    title: str
    score: float | None = None


FRAMES = [
    Frame(),
    Frame(state={"messages": ["one", "zwei é 𝕊 \u2028"]}, info={"done": False, "reward": 0}),
    Frame(state={"messages": ["one", "zwei é 𝕊 \u2028", ""], "empty": [[], {}]}, info=[1, [2]]),
    Frame(state=Report(title="<script>"), info=None, deepcopy=False),
    Frame(state=12345678901234567890123, info=1e16),
    Frame(state=[0.1, 1e-7, -0.0, 5e-324, 1.7976931348623157e308], info="plain"),
]
SPECIAL = Frame(state=[math.nan, math.inf, -math.inf])


def dumps(frames):
    return [frame.model_dump() for frame in frames]


def read_all(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


@pytest.mark.parametrize("count", [1, 2, len(FRAMES)])
def test_files_are_the_same(volary, tmp_path, count):
    frames = [*FRAMES[: count - 1], SPECIAL]
    Renderer(prefix="test", id="a-1", name="Näme", frames=frames).build(tmp_path)
    ours = volary("render", "test", "a-1", "Näme", data=dumps(frames))
    assert ours == read_all(tmp_path)


def test_volary_reads_aviarys_files(volary, tmp_path):
    Renderer(prefix="run", id=7, name="From aviary", frames=FRAMES).build(tmp_path)
    answer = volary("import", *sorted(tmp_path.iterdir()))
    [episode] = answer["episodes"]
    assert (episode["id"], episode["name"]) == ("7", "From aviary")
    assert json.dumps(episode["frames"]) == json.dumps(dumps(FRAMES))
    assert answer["notes"] == ["Renderer files with 6 frames."]


def test_volary_reads_aviarys_files_in_an_ordinary_zip(volary, tmp_path):
    Renderer(prefix="run", id="x", frames=FRAMES).build(tmp_path)
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        path = tmp_path / f"{method}.zip"
        with zipfile.ZipFile(path, "w", method) as archive:
            for file in sorted(tmp_path.glob("*.json"), reverse=True):
                archive.write(file, f"folder/{file.name}")
        [episode] = volary("import", path)["episodes"]
        assert json.dumps(episode["frames"]) == json.dumps(dumps(FRAMES))


def test_volary_says_which_zip_it_cannot_read(volary, tmp_path):
    path = tmp_path / "run.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("run_x_0.json", json.dumps(FRAMES[0].model_dump()))
    with pytest.raises(AssertionError, match="packed by method 12"):
        volary("import", path)


def test_our_zip_holds_what_aviary_would_write(volary, tmp_path):
    path = tmp_path / "ours.zip"
    volary("zip", path, data=dumps(FRAMES))
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        archive.extractall(tmp_path / "ours")
    ours = read_all(tmp_path / "ours")
    native = json.loads(ours.pop("volary.json"))
    assert native["format"] == "volary-episode"

    # Read again as aviary's frames, and written by aviary, nothing changes.
    manifest = json.loads(ours["volary_info_one.json"])
    frames, name = [], manifest["first"]
    while name:
        data = json.loads(ours[name])
        frames.append(Frame.model_validate(data))
        name = data["next_frame"]
    assert dumps(frames) == dumps(FRAMES)
    Renderer(prefix="volary", id="one", name=manifest["name"], frames=frames).build(
        tmp_path / "theirs"
    )
    assert read_all(tmp_path / "theirs") == ours

    # And our own way back.
    [episode] = volary("import", path)["episodes"]
    assert json.dumps(episode["frames"]) == json.dumps(dumps(FRAMES))
