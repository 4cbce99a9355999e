"""The bar over files: share, rate, time left."""

from hypothesis import given
from hypothesis import strategies as st

from specedit.view.live import MIN_WORK_S, FilesProgress, sizes


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_time_left_counts_from_the_first_question_and_by_size():
    clock = Clock()
    progress = FilesProgress({"skipped": 600, "small": 100, "large": 300}, clock)
    assert progress.left() is None
    progress.finish("skipped")  # no model was asked, and it took no time
    progress.begin()
    clock.now = MIN_WORK_S * 5
    assert progress.left() is None, "nothing is done yet"
    progress.finish("small")
    progress.begin()
    assert progress.left() == MIN_WORK_S * 5 * 3
    assert progress.share() == 0.7
    assert progress.share(0.5, "large") == 0.85
    assert progress.left(0.5, "large") == MIN_WORK_S * 5 / 250 * 150
    assert (progress.finished, progress.files) == (2, 3)


def test_nothing_is_shown_before_it_is_known():
    clock = Clock()
    progress = FilesProgress({"a": 10, "b": 10}, clock)
    progress.begin()
    clock.now = MIN_WORK_S / 2
    progress.finish("a")
    assert (progress.left(), progress.pace) == (None, 0.0)
    progress.decoded(30, 0.5)
    assert progress.pace == 60


@given(st.lists(st.integers(0, 100), min_size=1, max_size=9), st.floats(0, 1))
def test_the_share_only_grows_and_ends_at_one(weights, part):
    progress = FilesProgress({str(n): weight for n, weight in enumerate(weights)})
    last = progress.share()
    for name in map(str, range(len(weights))):
        assert last - 1e-9 <= progress.share(part, name) <= 1
        progress.finish(name)
        assert progress.share() >= last - 1e-9
        last = progress.share()
    assert last == 1


def test_a_file_that_cannot_be_asked_weighs_nothing(tmp_path):
    (tmp_path / "a").write_text("four")
    names = [str(tmp_path / "a"), str(tmp_path / "b")]
    assert sizes(names) == {names[0]: 4, names[1]: 0}
