"""What makes room in the report."""

from core.test_report import NOW, memory
from memory_palace.core.report import compose
from memory_palace.core.report_excess import Pair, plan


def test_each_is_named_once_the_most_telling_first() -> None:
    """Twins, then cold ones, then what does not fit, then the weakest; never what is safe."""
    twins = memory("t1", "pattern", 1.2), memory("t2", "pattern", 1.3)
    cold = memory("c", "mistake", 0.1, days=40, lifecycle="dropped")
    many = [memory(f"m{n:02}", strength=2 - n / 100, text="word " * 40) for n in range(12)]
    kept = memory("p", "preference", pinned=True), memory("e", "preference", 0.4, enforced=True)
    all_of_them = [*twins, cold, *many, *kept]
    report = compose(all_of_them, NOW)
    found = plan(all_of_them, NOW, report, [Pair(*twins, 0.9)])
    assert [advice.why.partition(" (")[0] for advice in found] == [
        "say nearly the same",
        "cold: nothing reinforced them for two half-lives, or they were let go",
        "lessons that do not fit into the report",
        f"the weakest of {12 - report.more} lessons",
    ]
    assert found[0].commands == ('palace edit t2 "ONE TEXT FOR BOTH"', "palace forget t1")
    assert found[1].commands == ("palace archive --dry-run", "palace archive")
    assert len(found[2].commands) == report.more > 0
    named = [one.id for advice in found for one in advice.memories]
    assert len(named) == len(set(named)) and not {"p", "e"} & set(named)


def test_of_twins_the_safe_one_is_kept() -> None:
    """Two safe ones are left alone, and an entry is in one pair only."""
    safe, weak = memory("s", strength=0.1, pinned=True), memory("w", strength=2)
    other = memory("o", pinned=True)
    report = compose([safe, weak, other], NOW)
    pairs = [Pair(weak, safe, 0.9), Pair(safe, other, 0.95), Pair(weak, other, 0.85)]
    [found] = plan([safe, weak, other], NOW, report, pairs)
    assert found.commands == ('palace edit s "ONE TEXT FOR BOTH"', "palace forget w")
