"""The locks: one holder at a time, known to its own thread, gone with the process that held it."""

import os
import subprocess
import sys
import threading

import pytest

from short_memory.store import lock


def test_a_lock_is_held_by_one_at_a_time(tmp_path):
    inside, most, place = [], [], tmp_path / "x.lock"

    def work():
        with lock.held(place):
            inside.append(1)
            most.append(len(inside))
            inside.pop()

    threads = [threading.Thread(target=work) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(most) == {1}


def test_only_the_thread_that_holds_a_lock_knows_it_as_its_own(tmp_path):
    place, others = tmp_path / "x.lock", []
    assert not lock.is_mine(place)
    with lock.held(place):
        thread = threading.Thread(target=lambda: others.append(lock.is_mine(place)))
        thread.start()
        thread.join()
        assert (lock.is_mine(place), lock.is_mine(tmp_path / "y.lock"), others) == (True, False, [False])
    assert not lock.is_mine(place)


def test_a_lock_is_free_again_after_an_error(tmp_path):
    place = tmp_path / "x.lock"
    with pytest.raises(RuntimeError), lock.held(place):
        raise RuntimeError
    with lock.alone(place) as free:
        assert (free, lock.is_mine(place)) == (True, False)


def test_a_shared_lock_keeps_out_only_who_wants_it_alone(tmp_path):
    place = tmp_path / "staging"
    with lock.shared(place), lock.shared(place), lock.alone(place) as free:
        assert free is False
    with lock.alone(place) as free:
        assert free is True


def test_a_lock_ends_with_the_process_that_held_it(tmp_path):
    place = tmp_path / "x.lock"
    program = (
        "import sys, time, pathlib; from short_memory.store import lock\n"
        "with lock.held(pathlib.Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(place)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "held\n"
        with lock.alone(place) as free:
            assert free is False
        child.kill()
        child.wait()
    with lock.held(place):
        assert place.stat().st_mode & 0o777 == 0o600


def test_a_planted_link_is_not_followed(tmp_path):
    (tmp_path / "x.lock").symlink_to(tmp_path / "victim")
    with pytest.raises(OSError, match="symbolic links"), lock.held(tmp_path / "x.lock"):
        os.abort()
    assert not (tmp_path / "victim").exists()
