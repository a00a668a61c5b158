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
MESSAGE = re.compile(rb"<Iteration_message>.*?</Iteration_message>", re.DOTALL)
IN_MESSAGE = re.compile(rb"\bQuery_\d+(?=:)")
QUERY_PARTS = (b"ID", b"def", b"len")
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
            yield numbered(iteration, count)
    yield tail


def numbered(iteration: bytes, number: int) -> bytes:
    """An iteration with another number, and so its query, where the program numbers these itself."""
    text = str(number).encode()
    for pattern in (NUMBER, QUERY):
        iteration = pattern.sub(rb"\g<1>" + text + rb"\g<3>", iteration, count=1)
    if QUERY.search(iteration):
        iteration = MESSAGE.sub(lambda found: IN_MESSAGE.sub(b"Query_" + text, found[0]), iteration, count=1)
    return iteration


def of_query(document: bytes, name: bytes) -> bytes | None:
    """The document of one query out of one of several; None where it is not in it."""
    head, iterations, tail = parts_of(document)
    for iteration in iterations:
        found = NAME.search(iteration)
        if found and unescaped(found[1]).split(None, 1)[:1] == [name]:
            iteration = numbered(iteration, 1)
            return b"".join((_head_of(head, iteration), iteration, tail))
    return None


def _head_of(head: bytes, iteration: bytes) -> bytes:
    """The head of a document with the query of an iteration as its first one."""
    for part in QUERY_PARTS:
        query = re.search(b"<Iteration_query-%s>(.*?)</" % part, iteration, re.DOTALL)
        place = re.search(b"<BlastOutput_query-%s>(.*?)</" % part, head, re.DOTALL)
        if query and place:
            head = head[: place.start(1)] + query[1] + head[place.end(1) :]
    return head


def unescaped(text: bytes) -> bytes:
    """Text of XML as it was meant."""
    for code, letter in ESCAPED.items():
        text = text.replace(code, letter)
    return text
