"""Follow a tree of nodes with parents: the visible thread, the branches, the turn of each message."""

from __future__ import annotations

from typing import Any

from amos.sources.instants import read_instant


class Thread:
    """A conversation tree; nodes are named by their key in the mapping."""

    def __init__(self, mapping: dict[str, Any], *, id_field: str, time_field: str) -> None:
        self._id_field = id_field
        self._time_field = time_field
        self._nodes: dict[str, dict[str, Any]] = {}
        self.faults: list[str] = []
        for name, node in mapping.items():
            if isinstance(node, dict):
                self._nodes[name] = node
            elif node is not None:
                self.faults.append(f"node {name[:40]} is no object")
        self._above: dict[str, str | None] = {}
        self.visible: set[str] = set()
        self.order: list[tuple[int, str]] = []

    @property
    def first_message(self) -> str | None:
        """Id of the earliest message of the tree, None when there is none."""
        return self.message_id(self.order[0][1]) if self.order else None

    def message(self, node: str) -> dict[str, Any]:
        """Return the message of `node`."""
        message: dict[str, Any] = self._nodes[node]["message"]
        return message

    def message_id(self, node: str) -> str:
        """Return the message's own id, or the node's where it has none."""
        own = self.message(node).get(self._id_field)
        return own if isinstance(own, str) and own else node

    def message_above(self, node: str) -> str | None:
        """Return the nearest node with a message on the way to the root."""
        return self._above[node]

    def has_message(self, node: str) -> bool:
        """Tell whether `node` carries a message."""
        return isinstance(self._nodes[node].get("message"), dict)

    def parent(self, node: str) -> str | None:
        """Return the parent of `node` when the tree has it."""
        parent = self._nodes[node].get("parent")
        return parent if isinstance(parent, str) and parent in self._nodes else None

    def settle(self, current: Any) -> None:
        """Find turns and the visible thread that ends at `current`, or at the latest leaf."""
        turns = self._turns()
        self.order = sorted(
            ((turn, node) for node, turn in turns.items() if self.has_message(node)),
            key=lambda pair: pair[0],
        )
        end = current if isinstance(current, str) and current in self._nodes else self._latest_leaf()
        if current is not None and end != current:
            self.faults.append("`current_node` names no node; the latest leaf stands in")
        while end is not None and end not in self.visible:
            self.visible.add(end)
            end = self.parent(end)

    def _turns(self) -> dict[str, int]:
        """Return the number of messages above each node; a ring of parents is cut once, and said."""
        turns: dict[str, int] = {}
        for start in self._nodes:
            path: list[str] = []
            on_path: set[str] = set()
            node: str | None = start
            while node is not None and node not in turns and node not in on_path:
                path.append(node)
                on_path.add(node)
                node = self.parent(node)
            if node in on_path:
                self.faults.append(f"node {str(node)[:40]} is its own ancestor")
                node = None
            self._number(path, node, turns)
        return turns

    def _number(self, path: list[str], root: str | None, turns: dict[str, int]) -> None:
        """Give each node of `path`, child first, its turn and the message above it."""
        above = root if root is None or self.has_message(root) else self._above[root]
        turn = 0 if root is None else turns[root] + self.has_message(root)
        for node in reversed(path):
            turns[node] = turn
            self._above[node] = above
            if self.has_message(node):
                turn += 1
                above = node

    def _latest_leaf(self) -> str | None:
        """Return the leaf with the latest message time, the last one where times are equal or absent."""
        parents = {self.parent(node) for node in self._nodes}
        latest: tuple[int, str] | None = None
        for node in self._nodes:
            if node in parents or not self.has_message(node):
                continue
            us = read_instant(self.message(node).get(self._time_field)).us or 0
            if latest is None or us >= latest[0]:
                latest = (us, node)
        return latest[1] if latest else None


def follow_thread(
    mapping: dict[str, Any], current: Any, *, id_field: str = "id", time_field: str = "create_time"
) -> Thread:
    """Return the settled thread of `mapping`, whose visible end is the node `current`."""
    thread = Thread(mapping, id_field=id_field, time_field=time_field)
    thread.settle(current)
    return thread
