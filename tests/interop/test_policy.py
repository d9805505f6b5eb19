"""The gradients that crates/policy is tested against are those of PyTorch."""

import json

import pytest
from programs import ROOT


def test_the_golden_gradients_are_those_of_pytorch():
    pytest.importorskip("torch")
    from policy_reference import reference

    golden = json.loads((ROOT / "crates/policy/golden/gradients.json").read_text())
    computed = reference()
    assert golden["loss"] == pytest.approx(computed["loss"], rel=1e-9)
    assert golden["factors"] == computed["factors"]
    assert golden["log_probs"] == pytest.approx(computed["log_probs"], rel=1e-5)
    assert golden["gradients"].keys() == computed["gradients"].keys()
    for name, gradient in computed["gradients"].items():
        assert golden["gradients"][name] == pytest.approx(gradient, rel=1e-5, abs=1e-9), name
