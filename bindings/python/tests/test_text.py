"""Values as ``str``: whatever the bytes are, what comes of them is what ``bytes.decode`` makes of them."""

from __future__ import annotations

import itertools
import random
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import hammerspace

#: Where characters begin to take more bytes, in files or in memory, and where there are none.
EDGES = "\0\x7f\x80\xff\u0100\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff"
ALPHABETS = ["ab c", "aé ü", "äöüß", "Привет ", "سلام ", "日本語 ", "ไทย a", "aé€", "a😀", "é😀日", EDGES]

#: Bytes at which decoders decide something.
TELLING = bytes.fromhex("00 7f 80 8f 90 9f a0 bf c0 c1 c2 df e0 e1 ec ed ee ef f0 f4 f5 ff")

#: Around the ends of blocks; and around that of what is decoded on the stack, which is 1984.
LENGTHS = [*range(70), *range(1940, 2020), 5000, 100_000]


def made(find: Callable[[], str | None]) -> tuple[object, ...]:
    """A string and its size, which tells how wide it is; or what is wrong with its bytes."""
    try:
        text = find()
    except UnicodeDecodeError as error:
        return error.args
    return text, type(text), sys.getsizeof(text)


def agree(path: Path, values: Iterable[bytes]) -> tuple[int, int]:
    """Looks all of them up; gives how many are text, and how many are none."""
    expected = {str(number): (value, made(value.decode)) for number, value in enumerate(values)}
    space = hammerspace.open(path, create=True, durability="none")
    space.load((key.encode(), value) for key, (value, _) in expected.items())
    for key, (value, outcome) in expected.items():
        assert made(lambda: space[key]) == outcome, value
    texts = [key for key, (_, outcome) in expected.items() if outcome[1] is str]
    for key, text in zip(texts, space.get_many(texts)):
        assert made(lambda: text) == expected[key][1], text
    return len(texts), len(expected) - len(texts)


def some(rng: random.Random, alphabet: str, length: int) -> str:
    """Text of up to so many bytes."""
    return "".join(rng.choices(alphabet, k=length)).encode()[:length].decode(errors="ignore")


def test_text_of_all_scripts_and_lengths(tmp_path: Path) -> None:
    rng = random.Random(1)
    texts = [some(rng, alphabet, length) for alphabet in ALPHABETS for length in LENGTHS for _ in range(3)]
    # As many characters as there can be, if one of them is wide.
    texts += ["é" + "a" * length for length in LENGTHS]
    texts += ["a" * before + wide + "b" * after for wide in EDGES for before in range(20) for after in range(20)]
    assert agree(tmp_path / "space", (text.encode() for text in texts)) == (len(texts), 0)


def test_every_character(tmp_path: Path) -> None:
    characters = [chr(code) for code in range(0x11000) if not 0xD800 <= code < 0xE000]
    texts = characters + ["".join(characters[at : at + 1000]) for at in range(0, len(characters), 1000)]
    assert agree(tmp_path / "space", (text.encode() for text in texts)) == (len(texts), 0)


def test_what_is_no_text(tmp_path: Path) -> None:
    """Each pair of bytes, and threes and fours of those that tell: alone, at the end, before more, and across blocks."""
    pairs = itertools.product(range(256), repeat=2)
    more = itertools.chain(itertools.product(TELLING, repeat=3), itertools.product(TELLING[2:], repeat=4))
    frames = ["|", "|a", "é" * 7 + "|", "a" * 15 + "|" + "b" * 20, "日" * 5 + "|é"]
    frame = random.Random(2).choice
    values = [bytes(middle).join(frame(frames).encode().split(b"|")) for middle in itertools.chain(pairs, more)]
    values += [b"\xff" * length for length in LENGTHS]
    texts, others = agree(tmp_path / "space", values)
    assert texts > 10_000 and others > 100_000


def test_text_that_was_damaged(tmp_path: Path) -> None:
    rng = random.Random(3)

    def damaged() -> bytes:
        """One byte is gone, another one, or one more; and perhaps nothing follows it."""
        text = bytearray(some(rng, rng.choice(ALPHABETS), rng.choice([10, 20, 50, 700])).encode())
        at, gone, new = rng.randrange(len(text)), *rng.choice([(1, 0), (1, 1), (0, 1)])
        text[at : at + gone] = rng.randbytes(new)
        return bytes(text[: rng.choice([at + 1, len(text)])])

    texts, others = agree(tmp_path / "space", (damaged() for _ in range(20_000)))
    assert texts > 1000 and others > 10_000
