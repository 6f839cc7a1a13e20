import re
import shutil
import subprocess
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projection.faults import HygieneFault
from projection.filter import BOM
from projection.gitconfig import INCLUDE, add_include, has_include, remove_include, rewrite_config
from projection.hygiene import leftovers, remove_hygiene, repair_hygiene, unhide
from tests.conftest import git
from tests.projection.spawned import BLOCK, commit_file, every_object, footprint, spawn

CASES: dict[str, bytes | None] = {
    "absent": None,
    "tracked": b"# Ours\n\nUse tabs.\n",
    "empty": b"",
    "crlf": b"# Ours\r\n\r\nUse tabs.\r\n",
    "bom": BOM + b"# Ours\n",
    "no final newline": b"# Ours\n\nlast line",
    "40 KB": b"A line of the person's own.\n" * 1500,
}


@pytest.mark.parametrize("content", CASES.values(), ids=CASES.keys())
@pytest.mark.parametrize("mode", [0o644, 0o755], ids=["plain", "executable"])
def test_the_status_is_empty_from_the_start_and_all_is_gone_in_the_end(
    repo: Path, tmp_path: Path, content: bytes | None, mode: int
) -> None:
    if content is not None:
        commit_file(repo, "AGENTS.md", content, executable=mode == 0o755)
    before = footprint(repo)
    agent = spawn(repo, tmp_path / "wt")
    bom = BOM if content is not None and content.startswith(BOM) else b""
    assert agent.file.read_bytes() == bom + BLOCK + (content or b"").removeprefix(BOM)
    assert agent.placed.changed == (content is None)
    assert agent.status() == ""
    assert agent.git("diff", "HEAD") == ""
    if content is not None:
        assert agent.file.stat().st_mode & 0o777 == mode
    assert git(repo, "status", "--porcelain") == ""
    agent.remove()
    assert footprint(repo) == before
    assert git(repo, "config", "--list", "--local").count("orch") == 0


def test_the_index_knows_the_size_of_the_file_with_its_block(repo: Path, tmp_path: Path) -> None:
    commit_file(repo, "AGENTS.md", b"# Ours\n")
    agent = spawn(repo, tmp_path / "wt")
    entry = agent.git("ls-files", "--debug", "--", "AGENTS.md")
    assert re.search(r"size: (\d+)", entry).group(1) == str(len(BLOCK) + 7)  # type: ignore[union-attr]


def test_a_new_file_in_the_main_checkout_stays_visible_meanwhile(repo: Path, tmp_path: Path) -> None:
    agent = spawn(repo, tmp_path / "wt")
    (repo / "AGENTS.md").write_text("# Mine\n")
    assert git(repo, "status", "--porcelain") == "?? AGENTS.md"
    git(repo, "add", "AGENTS.md")
    git(repo, "commit", "--quiet", "--message", "Mine")
    assert git(repo, "show", "HEAD:AGENTS.md") == "# Mine"
    assert agent.status() == ""


def test_the_users_own_excludes_and_attributes_hold_in_the_worktree(repo: Path, tmp_path: Path, home: Path) -> None:
    from projection.hygiene import Hygiene, write_hygiene

    excludes, attributes = home / "my excludes", home / "my attributes"
    excludes.write_text("*.swp")
    attributes.write_text("*.bin -diff")
    git(repo, "worktree", "add", "--quiet", "--no-checkout", "-b", "b", str(tmp_path / "wt"))
    hygiene = Hygiene(
        common_dir=repo / ".git",
        gitdir=repo / ".git" / "worktrees" / "wt",
        agent_dir=repo / ".git" / "orch" / "agents" / "x",
        agent_id="x",
        user_excludes=excludes,
        user_attributes=attributes,
    )
    write_hygiene(hygiene, "AGENTS.md", BLOCK, "python3")
    git(tmp_path / "wt", "checkout", "--quiet")
    for name in ("a.swp", "a.bin", "AGENTS.md"):
        (tmp_path / "wt" / name).write_text("x")
    assert git(tmp_path / "wt", "status", "--porcelain") == "?? a.bin"
    assert git(tmp_path / "wt", "check-attr", "diff", "a.bin") == "a.bin: diff: unset"


@pytest.mark.parametrize("name", ["MY NOTES.txt", "#notes", "!notes", "a[1]*?.txt", 'double"d', " x ", "ré.txt"])
@pytest.mark.parametrize("content", [None, b"# Ours\n"], ids=["absent", "tracked"])
def test_any_name_of_the_file_works(repo: Path, tmp_path: Path, name: str, content: bytes | None) -> None:
    if content is not None:
        commit_file(repo, name, content)
    agent = spawn(repo, tmp_path / "wt", name)
    complaints = subprocess.run(["git", "status"], cwd=agent.worktree, capture_output=True, check=True).stderr
    assert (agent.status(), complaints) == ("", b"")
    agent.file.write_bytes(agent.file.read_bytes() + b"more\n")
    agent.git("add", "--force", "--", f":(literal){name}")
    agent.git("commit", "--quiet", "--message", "x")
    assert agent.committed() == (content or b"") + b"more\n"
    assert BLOCK not in every_object(repo)


NAMES = ["repo with space", "ré-po", "quote'd", 'double"d', "star*[x]?", "back\\slash", "per%fcent", "dollar$HOME`id`"]


@pytest.mark.parametrize("folder", NAMES)
def test_any_path_works(tmp_path: Path, home: Path, folder: str) -> None:
    repo = tmp_path / folder / "r"
    repo.mkdir(parents=True)
    git(repo, "init", "--quiet")
    commit_file(repo, "AGENTS.md", b"# Ours\n")
    agent = spawn(repo, tmp_path / folder / f"wt {folder}", agent_id="a1")
    assert agent.file.read_bytes() == BLOCK + b"# Ours\n"
    assert agent.status() == ""
    agent.file.write_bytes(agent.file.read_bytes() + b"more\n")
    agent.git("commit", "--quiet", "--all", "--message", "x")
    assert agent.committed() == b"# Ours\nmore\n"


def test_a_repository_behind_a_symbolic_link_works(tmp_path: Path, home: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    repo = tmp_path / "link" / "r"
    repo.mkdir()
    git(repo, "init", "--quiet")
    commit_file(repo, "AGENTS.md", b"# Ours\n")
    agent = spawn(repo, tmp_path / "link" / "wt")
    for folder in (agent.worktree, tmp_path / "real" / "wt"):
        assert git(folder, "status", "--porcelain") == ""
        assert git(folder, "config", "filter.orch-memory.required") == "true"


def test_each_worktree_has_its_own_configuration_and_the_others_none(repo: Path, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "--quiet", str(tmp_path / "wt"))
    first = spawn(repo, tmp_path / "x" / "wt", agent_id="a1")
    second = spawn(repo, tmp_path / "y" / "wt", agent_id="a2")
    third = spawn(repo, tmp_path / "z" / "t", agent_id="a3")
    for agent in (first, second, third):
        assert agent.git("config", "core.excludesFile") == str(agent.agent_dir / "excludes")
    for other in (repo, tmp_path / "wt"):
        done = subprocess.run(["git", "config", "core.excludesFile"], cwd=other, capture_output=True, check=False)
        assert done.returncode == 1
    second.remove()
    assert first.status() == third.status() == ""
    assert third.git("config", "core.excludesFile") == str(third.agent_dir / "excludes")


def test_the_filter_outlives_the_python_that_orch_ran_on(repo: Path, tmp_path: Path) -> None:
    commit_file(repo, "AGENTS.md", b"# Ours\n")
    agent = spawn(repo, tmp_path / "wt", python="/nonexistent/bin/python")
    assert agent.file.read_bytes() == BLOCK + b"# Ours\n"
    assert agent.status() == ""


def test_a_filter_that_cannot_run_fails_the_add_and_pollutes_nothing(repo: Path, tmp_path: Path) -> None:
    commit_file(repo, "AGENTS.md", b"# Ours\n")
    agent = spawn(repo, tmp_path / "wt")
    (agent.common / "orch" / "filter.py").unlink()
    agent.file.write_bytes(agent.file.read_bytes() + b"more\n")
    done = subprocess.run(["git", "add", "-A"], cwd=agent.worktree, capture_output=True, check=False)
    assert done.returncode != 0
    assert b"orch:memory" not in every_object(repo)


def test_a_file_of_ours_is_shown_once_the_agent_wrote_into_it(repo: Path, tmp_path: Path) -> None:
    agent = spawn(repo, tmp_path / "wt")
    assert not unhide(agent.agent_dir, agent.worktree, "AGENTS.md")
    for same in (BLOCK.replace(b"\n", b"\r\n"), BLOCK + b"\n\n", BLOCK.replace(b"tabs", b"spaces"), BLOCK):
        agent.file.write_bytes(same)
        assert not unhide(agent.agent_dir, agent.worktree, "AGENTS.md")
    agent.file.write_bytes(BLOCK + b"# The agent's own\n")
    assert agent.status() == ""
    assert unhide(agent.agent_dir, agent.worktree, "AGENTS.md")
    assert agent.status() == "?? AGENTS.md"
    assert not unhide(agent.agent_dir, agent.worktree, "AGENTS.md")
    agent.git("add", "--all")
    agent.git("commit", "--quiet", "--message", "x")
    assert agent.committed() == b"# The agent's own\n"
    assert agent.status() == ""
    assert b"orch:memory" not in every_object(repo)


configs = st.lists(
    st.sampled_from(
        [
            b"[core]\n",
            b"\tbare = false\n",
            b"[include]\n",
            b"\tpath = mine\n",
            b"# note\n",
            b"\n",
            b"[user]\r\n",
            b"x=y",
        ]
    ),
    max_size=8,
).map(b"".join)


@given(configs)
def test_the_entry_goes_as_it_came(config: bytes) -> None:
    added = add_include(config)
    assert has_include(added)
    assert not has_include(config)
    assert add_include(added) == added
    assert remove_include(added) == config
    assert remove_include(config) == config


@given(configs, configs)
def test_what_was_appended_in_between_stays(config: bytes, later: bytes) -> None:
    if later and not later.startswith(b"["):
        later = b"[later]\n" + later
    glue = b"" if not config or config.endswith(b"\n") or not later else b"\n"
    assert remove_include(add_include(config) + glue + later) == config + glue + later


@pytest.mark.parametrize("final", [b"\n", b""])
def test_what_git_config_writes_in_between_stays(repo: Path, tmp_path: Path, final: bytes) -> None:
    config = repo / ".git" / "config"
    git(repo, "config", "include.path", "mine")
    config.write_bytes(config.read_bytes().removesuffix(b"\n") + final)
    without = tmp_path / "without"
    shutil.copytree(repo, without)
    agent = spawn(repo, tmp_path / "wt")
    for folder in (repo, without):
        git(folder, "config", "user.name", "Somebody")
        git(folder, "config", "core.pager", "cat")
        git(folder, "config", "include.path", "other")
        git(folder, "config", "--add", "include.path", "third")
        git(folder, "config", "--unset", "core.pager")
    agent.remove()
    assert config.read_bytes() == (without / ".git" / "config").read_bytes()


def test_a_key_that_somebody_put_below_our_header_stays() -> None:
    config = b"[core]\n" + INCLUDE + b"\tpath = theirs\n"
    assert remove_include(config) == config.replace(b"\tpath = orch/gitconfig\n", b"")


def test_a_comment_for_the_next_section_stays_and_the_header_goes() -> None:
    config = b"[core]\n" + INCLUDE + b"\n# mine\n[user]\n\tname = x\n"
    assert remove_include(config) == b"[core]\n\n# mine\n[user]\n\tname = x\n"


def test_the_configuration_keeps_its_mode_and_its_symbolic_link(repo: Path, tmp_path: Path) -> None:
    config = repo / ".git" / "config"
    real = tmp_path / "elsewhere"
    config.rename(real)
    real.chmod(0o600)
    config.symlink_to(real)
    agent = spawn(repo, tmp_path / "wt")
    assert config.is_symlink()
    assert has_include(real.read_bytes())
    assert real.stat().st_mode & 0o777 == 0o600
    agent.remove()
    assert config.is_symlink()


def test_the_lock_of_another_program_is_waited_for_and_never_taken_away(repo: Path) -> None:
    config = repo / ".git" / "config"
    lock = repo / ".git" / "config.lock"
    lock.touch()
    with pytest.raises(HygieneFault, match=r"config\.lock") as caught:
        rewrite_config(config, add_include, wait=0.1)
    assert "rm " in caught.value.hint
    assert lock.exists()
    timer = threading.Timer(0.3, lock.unlink)
    timer.start()
    assert rewrite_config(config, add_include, wait=10)
    timer.join()
    assert not lock.exists()


def test_no_concurrent_git_config_is_lost(repo: Path) -> None:
    config = repo / ".git" / "config"
    stop = threading.Event()

    def toggle() -> None:
        while not stop.is_set():
            rewrite_config(config, add_include)
            rewrite_config(config, remove_include)

    thread = threading.Thread(target=toggle)
    thread.start()
    try:
        for number in range(60):
            # git does not wait for a lock; a person would try again.
            while subprocess.run(
                ["git", "config", f"test.key{number}", "v"], cwd=repo, capture_output=True, check=False
            ).returncode:
                pass
    finally:
        stop.set()
        thread.join()
    assert git(repo, "config", "--get-regexp", "^test\\.").count("\n") == 59
    assert not has_include(config.read_bytes())


def test_leftovers_are_found_and_repaired(repo: Path, tmp_path: Path) -> None:
    before = footprint(repo)
    assert leftovers(repo / ".git") == ()
    agent = spawn(repo, tmp_path / "wt", agent_id="a1")
    other = spawn(repo, tmp_path / "wt2", agent_id="a2")
    assert leftovers(repo / ".git") == ()
    git(repo, "worktree", "remove", "--force", str(agent.worktree))
    shutil.rmtree(other.agent_dir)
    found = leftovers(repo / ".git")
    assert [leftover.agent_id for leftover in found] == ["a1", "a2"]
    assert "not registered" in found[0].what
    assert "no git configuration" in found[1].what
    repair_hygiene(repo / ".git")
    assert leftovers(repo / ".git") == ()
    assert footprint(repo) == before


def test_a_lost_entry_is_found_and_repaired(repo: Path, tmp_path: Path) -> None:
    agent = spawn(repo, tmp_path / "wt")
    config = repo / ".git" / "config"
    config.write_bytes(remove_include(config.read_bytes()))
    assert ["does not include" in leftover.what for leftover in leftovers(agent.common)] == [True]
    repair_hygiene(agent.common)
    assert agent.status() == ""
    (agent.common / "orch" / "gitconfig").unlink()
    assert ["which no agent needs" in leftover.what for leftover in leftovers(agent.common)] == [True]
    remove_hygiene(agent.common, agent.agent_id)
    assert not has_include(config.read_bytes())


def test_the_main_checkout_never_reads_what_the_agents_need(repo: Path, tmp_path: Path) -> None:
    agent = spawn(repo, tmp_path / "wt")
    listed = git(repo, "config", "--list", "--show-origin")
    assert "orch/agents" not in listed
    assert "orch/agents" in git(agent.worktree, "config", "--list", "--show-origin")


def test_a_worktree_config_that_git_copies_does_not_undo_it(repo: Path, tmp_path: Path) -> None:
    git(repo, "config", "extensions.worktreeConfig", "true")
    for key in ("core.excludesFile", "core.attributesFile"):
        git(repo, "config", "--worktree", key, "/dev/null")
    before = footprint(repo)
    main = (repo / ".git" / "config.worktree").read_bytes()
    agent = spawn(repo, tmp_path / "wt")
    assert "/dev/null" in git(agent.worktree, "config", "--get-all", "core.excludesFile")
    assert agent.status() == ""
    agent.file.write_bytes(BLOCK + b"mine\n")
    assert unhide(agent.agent_dir, agent.worktree, "AGENTS.md")
    agent.git("add", "--all")
    agent.git("commit", "--quiet", "--message", "x")
    assert agent.committed() == b"mine\n"
    agent.remove()
    assert footprint(repo) == before
    assert (repo / ".git" / "config.worktree").read_bytes() == main


@pytest.mark.parametrize("layout", ["bare", "submodule", "separate"])
def test_every_layout_of_the_git_directory(repo: Path, tmp_path: Path, layout: str) -> None:
    commit_file(repo, "AGENTS.md", b"# Ours\n")
    if layout == "bare":
        git(tmp_path, "clone", "--quiet", "--bare", str(repo), "store.git")
        main, common = tmp_path / "store.git", tmp_path / "store.git"
    elif layout == "separate":
        git(tmp_path, "clone", "--quiet", "--separate-git-dir", "store", str(repo), "checkout")
        main, common = tmp_path / "checkout", tmp_path / "store"
    else:
        git(tmp_path, "init", "--quiet", "super")
        above, name = tmp_path / "super", "worktrees/sub"
        git(above, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repo), name)
        main, common = above / name, above / ".git" / "modules" / name
    before = (common / "config").read_bytes()
    agent = spawn(main, tmp_path / "wt", common=common)
    assert agent.file.read_bytes() == BLOCK + b"# Ours\n"
    assert agent.status() == ""
    agent.file.write_bytes(agent.file.read_bytes() + b"more\n")
    agent.git("commit", "--quiet", "--all", "--message", "x")
    assert agent.committed() == b"# Ours\nmore\n"
    if layout != "bare":
        (main / "NEW.md").write_text("x")
        assert git(main, "status", "--porcelain") == "?? NEW.md"
        assert git(main, "check-attr", "filter", "AGENTS.md") == "AGENTS.md: filter: unspecified"
    agent.remove()
    assert (common / "config").read_bytes() == before
