"""Documents of BLAST+ in XML (-outfmt 5), each of some queries, made one of all.

What remains is what one run over all queries writes: the head of the first document, whose first query stands in it,
then the iterations of all with consecutive numbers, where the program numbers the queries itself too. Different are
only statistics of a run: nothing in documents of blastp.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

BEGIN, END = b"<BlastOutput_iterations>", b"</BlastOutput_iterations>"
ITERATION = re.compile(rb"<Iteration>.*?</Iteration>\s*", re.DOTALL)
NUMBER = re.compile(rb"(<Iteration_iter-num>)(\d+)(</Iteration_iter-num>)")
QUERY = re.compile(rb"(<Iteration_query-ID>Query_)(\d+)(</Iteration_query-ID>)")
NAME = re.compile(rb"<Iteration_query-def>(.*?)</Iteration_query-def>", re.DOTALL)
HEAD_QUERY = re.compile(rb"(<BlastOutput_query-(?:ID|def|len)>)(.*?)(</BlastOutput_query-(?:ID|def|len)>)", re.DOTALL)
ESCAPED = {b"&lt;": b"<", b"&gt;": b">", b"&quot;": b'"', b"&apos;": b"'", b"&amp;": b"&"}


def is_document(result: bytes) -> bool:
    """Whether a result is such a document."""
    return result[:200].lstrip().startswith(b"<?xml") and b"<BlastOutput>" in result[:2000]


def parts_of(document: bytes) -> tuple[bytes, list[bytes], bytes]:
    """What stands before the iterations of a document, these, and what follows.

    Raises ValueError where there are none.
    """
    begin, end = document.find(BEGIN), document.rfind(END)
    if begin < 0 or end < begin:
        raise ValueError("no iterations of BLAST in it")
    begin = document.index(b"\n", begin) + 1 if b"\n" in document[begin:end] else begin + len(BEGIN)
    return document[:begin], ITERATION.findall(document[begin:end]), document[end:]


def merged(documents: Iterable[bytes]) -> Iterator[bytes]:
    """One document of several, in parts. Raises ValueError where one of them is none."""
    count, tail = 0, b""
    for document in documents:
        head, iterations, tail = parts_of(document)
        if not count:
            yield head
        for iteration in iterations:
            count += 1
            number = str(count).encode()
            iteration = NUMBER.sub(rb"\g<1>" + number + rb"\g<3>", iteration, count=1)
            yield QUERY.sub(rb"\g<1>" + number + rb"\g<3>", iteration, count=1)
    yield tail


def of_query(document: bytes, name: bytes) -> bytes | None:
    """The document of one query out of one of several; None where it is not in it."""
    head, iterations, tail = parts_of(document)
    for iteration in iterations:
        found = NAME.search(iteration)
        if found and unescaped(found[1]).split(None, 1)[:1] == [name]:
            return b"".join((head, iteration, tail))
    return None


def unescaped(text: bytes) -> bytes:
    """Text of XML as it was meant."""
    for code, letter in ESCAPED.items():
        text = text.replace(code, letter)
    return text
