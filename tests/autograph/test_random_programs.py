"""Random programs give the same results eagerly and as tf.function."""

from __future__ import annotations

import logging

import pytest

from fuzzing import campaign
from fuzzing.programs import ProgramWriter, check_program


@pytest.mark.parametrize("start", range(0, 300, 30))
def test_programs(start: int) -> None:
    for seed in range(start, start + 30):
        report = check_program(seed)
        assert report is None, report


def test_programs_are_reproducible_and_varied() -> None:
    sources = [ProgramWriter(seed).write() for seed in range(60)]
    assert sources == [ProgramWriter(seed).write() for seed in range(60)]
    text = "".join(sources)
    for construct in (
        "while ",
        "for ",
        "if ",
        "elif ",
        "else:",
        "break",
        "continue",
        "return ",
        " and ",
    ):
        assert construct in text


def test_the_fuzzer_finds_a_wrong_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    from weft._src.autograph.operators import runtime

    monkeypatch.setattr(runtime, "not_", lambda a: a)
    level = logging.getLogger("weft").level
    assert campaign.run(check_program, range(30)).reports
    assert logging.getLogger("weft").level == level  # other tests look at what is logged
