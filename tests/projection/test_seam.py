from dataclasses import replace

import pytest

from adapters.adapter import Adapter, Carry, Command, FileSeam, Launch, LaunchSeam
from projection.block import render_block
from projection.faults import SeamFault
from projection.seam import HeadEntry, plan_seam

TEXT = "# Notes\n\n- one"
BLOCK = render_block(TEXT)


def _command(launch: Launch) -> Command:
    return Command(argv=(launch.executable,))


def _apply(_launch: Launch, command: Command, _carry: Carry) -> Command:
    return command


BOTH = Adapter(
    name="both",
    title="Both",
    executables=("both",),
    install="",
    tested=("1.0", "1.0"),
    proof="contract",
    command=_command,
    file_seam=FileSeam(name="AGENTS.md", cap=1000, shadowed_by=("AGENTS.override.md",), hides=("CLAUDE.md",)),
    launch_seam=LaunchSeam(describe="--flag", apply=_apply),
    default_seam="file",
)
ONLY_FILE = replace(BOTH, name="onlyfile", launch_seam=None)
ONLY_LAUNCH = replace(BOTH, name="onlylaunch", file_seam=None, default_seam="launch")
NEITHER = replace(BOTH, name="neither", file_seam=None, launch_seam=None)

OBSTACLES = {
    "symlink": (HeadEntry(kind="symlink"), "a symbolic link"),
    "directory": (HeadEntry(kind="directory"), "a directory"),
    "submodule": (HeadEntry(kind="submodule"), "a submodule"),
    "special": (HeadEntry(kind="special"), "a special file"),
    "unwritable": (HeadEntry(kind="file", writable=False), "cannot be written"),
    "over the cap": (HeadEntry(kind="file", content=b"x" * 990), "only 1000 are read"),
    "a block of ours": (HeadEntry(kind="file", content=b"x\n" + BLOCK), "holds a block"),
    "half a block": (HeadEntry(kind="file", content=BLOCK[:30]), "holds a block"),
    "utf-16": (HeadEntry(kind="file", content="x".encode("utf-16")), "no UTF-8"),
    "lfs": (HeadEntry(kind="file", attributes={"filter": "lfs"}), "filter 'lfs'"),
    "another encoding": (HeadEntry(kind="file", attributes={"working-tree-encoding": "UTF-16LE"}), "UTF-16LE"),
    "shadowed": (HeadEntry(kind="file", beside=frozenset({"AGENTS.override.md"})), "read in place"),
    "hiding": (HeadEntry(kind="absent", beside=frozenset({"CLAUDE.md"})), "from reading CLAUDE.md"),
}


@pytest.mark.parametrize(("entry", "says"), OBSTACLES.values(), ids=OBSTACLES.keys())
def test_an_obstacle_sends_auto_to_the_launch_seam_and_a_forced_file_to_a_fault(entry: HeadEntry, says: str) -> None:
    plan = plan_seam(BOTH, "auto", head_entry=entry, text=TEXT)
    assert plan.kind == "launch"
    assert says in plan.reason
    assert "--flag" in plan.reason
    for adapter, setting in ((BOTH, "file"), (ONLY_FILE, "auto"), (ONLY_FILE, "file")):
        with pytest.raises(SeamFault) as caught:
            plan_seam(adapter, setting, head_entry=entry, text=TEXT)  # type: ignore[arg-type]
        assert says in caught.value.message
        assert "\n" not in caught.value.message + caught.value.hint
        assert ("launch" in caught.value.hint) == (adapter is BOTH)
    assert plan_seam(BOTH, "launch", head_entry=entry, text=TEXT).kind == "launch"


@pytest.mark.parametrize(
    "entry",
    [
        HeadEntry(),
        HeadEntry(kind="file"),
        HeadEntry(kind="file", content=b"x\r\n"),
        HeadEntry(kind="file", content=b"text", beside=frozenset({"CLAUDE.md"})),
        HeadEntry(kind="file", attributes={"working-tree-encoding": "utf-8"}),
        HeadEntry(kind="file", content=b"x" * (1000 - len(BLOCK))),
    ],
)
def test_a_file_that_can_be_used_is_used(entry: HeadEntry) -> None:
    for adapter, setting in ((BOTH, "auto"), (BOTH, "file"), (ONLY_FILE, "auto")):
        plan = plan_seam(adapter, setting, head_entry=entry, text=TEXT)  # type: ignore[arg-type]
        assert (plan.kind, plan.file, plan.block) == ("file", "AGENTS.md", BLOCK)
        assert plan.made == (entry.kind == "absent")


@pytest.mark.parametrize("name", ["AGENTS.md", "CLAUDE.md"])
@pytest.mark.parametrize("block", [BLOCK, b"\xef\xbb\xbf" + BLOCK, b"x\r\n" + BLOCK.replace(b"\n", b"\r\n") + b"y"])
def test_a_committed_document_that_holds_the_very_text_is_the_carrier(name: str, block: bytes) -> None:
    entry = HeadEntry(kind="file", documents={name: block, "OTHER.md": b""})
    for adapter in (BOTH, ONLY_FILE, ONLY_LAUNCH):
        plan = plan_seam(adapter, "auto", head_entry=entry, text=TEXT)
        assert (plan.kind, plan.file, plan.made, plan.block) == ("file", None, False, b"")
        assert name in plan.reason
    other = plan_seam(BOTH, "auto", head_entry=entry, text=TEXT + "\n- two")
    assert other.file == "AGENTS.md" or other.kind == "launch"


def test_other_documents_count_towards_the_cap() -> None:
    entry = HeadEntry(kind="file", content=b"x" * 500)
    assert plan_seam(BOTH, "auto", head_entry=entry, text=TEXT, other_docs=300).kind == "file"
    assert plan_seam(BOTH, "auto", head_entry=entry, text=TEXT, other_docs=500).kind == "launch"


def test_what_the_backend_lacks_cannot_be_forced() -> None:
    with pytest.raises(SeamFault, match="no launch seam"):
        plan_seam(ONLY_FILE, "launch", head_entry=HeadEntry(), text=TEXT)
    with pytest.raises(SeamFault, match="reads no file"):
        plan_seam(ONLY_LAUNCH, "file", head_entry=HeadEntry(), text=TEXT)
    assert plan_seam(ONLY_LAUNCH, "auto", head_entry=HeadEntry(), text=TEXT).kind == "launch"
    plan = plan_seam(NEITHER, "auto", head_entry=HeadEntry(), text=TEXT)
    assert (plan.kind, plan.file, plan.block) == ("none", None, b"")
    assert "does not get the memory" in plan.reason


def test_without_a_text_there_is_no_seam() -> None:
    for adapter in (BOTH, ONLY_FILE, ONLY_LAUNCH, NEITHER):
        assert plan_seam(adapter, "auto", head_entry=HeadEntry(), text="").kind == "none"


@pytest.mark.parametrize("name", ["", ".", "..", ".git", ".GIT", "a/b", ".git ", "git~1", "/etc/passwd"])
def test_a_name_outside_of_the_worktree_or_in_git_is_no_seam(name: str) -> None:
    adapter = replace(ONLY_FILE, file_seam=FileSeam(name=name))
    with pytest.raises(SeamFault):
        plan_seam(adapter, "auto", head_entry=HeadEntry(), text=TEXT)
