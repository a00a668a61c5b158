"""A cluster for people: its nodes, what its links give, and what is not to be concluded from runs on it."""

from __future__ import annotations

from typing import Any

from fathometer.base.formatting import rate_in_words, time_in_words
from fathometer.base.text_tables import TextColumn, aligned
from fathometer.lab.cluster.marks import marks_of
from fathometer.lab.cluster.state import Cluster, described


def status_of(cluster: Cluster) -> dict[str, Any]:
    """What `fathometer cluster status --json` prints of it."""
    return described(cluster) | {
        "folder": str(cluster.folder),
        "up": cluster.ready and not cluster.gone,
        "ended": cluster.gone,
        "marks": marks_of(cluster, len(cluster.nodes)),
    }


def table_lines(cluster: Cluster) -> list[str]:
    """Lines of plain text."""
    gone = cluster.gone
    what = "up" if cluster.ready and not gone else "not whole"
    lines = [f"cluster {cluster.name}: {what}; {cluster.spec.text}"]
    nodes = [
        [node.name, "ended" if node.name in gone else "up", f"cores {','.join(map(str, node.cores))}"]
        for node in cluster.nodes
    ]
    lines += aligned((TextColumn(least=8, gap=0), TextColumn(least=6), TextColumn()), nodes, "  ")
    if others := [name for name in gone if name not in {node.name for node in cluster.nodes}]:
        lines.append(f"  ended: {', '.join(others)}")
    if cluster.links:
        lines.append("  measured when it was made:")
    lines += [
        f"    {link.sender} to {link.receiver}, rail {link.rail}: latency {time_in_words(link.latency_seconds)} "
        f"(median {time_in_words(link.median_latency_seconds)}), one stream {rate_in_words(link.bytes_per_second)}"
        for link in cluster.links
    ]
    return lines + [f"  with a rank on each node: {mark}" for mark in marks_of(cluster, len(cluster.nodes))]
