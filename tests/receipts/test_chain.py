"""The chain of receipts: any change before its end is found."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.receipts.chain import START, Entry, find_fault, next_entries
from tark_lsp.receipts.receipt import Receipt, Step

TEXTS = st.text(max_size=20)
RECEIPTS = st.lists(
    st.builds(
        Receipt,
        at=st.floats(0, 4e9),
        session=TEXTS,
        turn=TEXTS,
        call=TEXTS,
        tool=TEXTS,
        step=st.sampled_from(Step),
        digest=TEXTS,
        subject=TEXTS,
        detail=TEXTS,
    ),
    min_size=2,
    max_size=8,
)


@given(RECEIPTS, st.integers(0, 7))
def test_entries_appended_at_different_times_are_one_chain(receipts: list[Receipt], cut: int) -> None:
    first = next_entries(None, receipts[:cut])
    entries = [*first, *next_entries(first[-1] if first else None, receipts[cut:])]
    assert entries == next_entries(None, receipts)
    assert [entry.receipt for entry in entries] == receipts
    assert find_fault(entries) is None


@given(st.data())
def test_a_change_of_any_part_is_found_at_its_place(data: st.DataObject) -> None:
    entries = next_entries(None, data.draw(RECEIPTS))
    at = data.draw(st.integers(0, len(entries) - 1))
    entry = entries[at]
    place = data.draw(st.integers(0, len(entry.text) - 1))
    letter = data.draw(st.characters(codec="utf-8").filter(lambda found: found != entry.text[place]))
    changed = data.draw(
        st.sampled_from(
            [
                replace(entry, text=entry.text[:place] + letter + entry.text[place + 1 :]),
                replace(entry, hash=entry.hash[::-1] + "0"),
                replace(entry, number=entry.number + 1),
            ]
        )
    )
    fault = find_fault([*entries[:at], changed, *entries[at + 1 :]])
    assert fault is not None
    assert fault.number == at + 1


@given(st.data())
def test_a_missing_doubled_or_moved_entry_is_found(data: st.DataObject) -> None:
    entries = next_entries(None, data.draw(RECEIPTS))
    at = data.draw(st.integers(0, len(entries) - 2))
    swapped = [*entries]
    swapped[at], swapped[at + 1] = swapped[at + 1], swapped[at]
    for broken in (
        entries[:at] + entries[at + 1 :],
        entries[: at + 1] + entries[at:],
        swapped,
        [replace(entry, number=number) for number, entry in enumerate(swapped, 1)],
    ):
        fault = find_fault(broken)
        assert fault is not None
        assert fault.number <= at + 2


def test_an_entry_that_is_added_in_the_middle_is_found() -> None:
    entries = next_entries(None, [receipt(str(number)) for number in range(4)])
    added = next_entries(entries[1], [receipt("added")])[0]
    renumbered = [replace(entry, number=entry.number + 1) for entry in entries[2:]]
    fault = find_fault([*entries[:2], added, *renumbered])
    assert fault is not None
    assert fault.number == 4


def test_a_cut_at_the_end_is_found_only_with_a_noted_hash() -> None:
    entries = next_entries(None, [receipt(str(number)) for number in range(4)])
    assert find_fault(entries[:2]) is None
    assert find_fault(entries, entries[-1].hash) is None
    assert find_fault(entries, entries[1].hash) is None  # more was appended since it was noted
    fault = find_fault(entries[:2], entries[-1].hash)
    assert fault is not None
    assert "cut or replaced" in fault.what


def test_text_that_is_no_receipt_is_a_fault_even_with_the_right_hash() -> None:
    from tark_lsp.receipts.chain import hash_of

    for text in ("{}", "nonsense", "[]", '{"step": "flown"}'):
        fault = find_fault([Entry(1, text, hash_of(START, 1, text))])
        assert fault is not None
        assert "not a receipt" in fault.what


def receipt(subject: str) -> Receipt:
    return Receipt(1.5, "session", "turn", "call", "run_command", Step.SHOWN, "digest", subject, "why")
