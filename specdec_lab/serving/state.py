"""The server that `specdec-lab serve start` left running: what later commands know of it."""

from __future__ import annotations

import json
import os
from pathlib import Path

from specdec_lab.assets import cache_folder
from specdec_lab.errors import UserError
from specdec_lab.serving.recordings import setup_as_json, setup_from_json
from specdec_lab.serving.server import Server


def file() -> Path:
    """Where it is noted."""
    return cache_folder() / "serving" / "server.json"


def note(server: Server) -> None:
    """Note the server, in place of any other. Raises UserError if that cannot be written."""
    fields = {name: getattr(server, name) for name in ("port", "pid", "started", "command")}
    fields |= {"log": str(server.log), "setup": setup_as_json(server.setup)}
    new = file().with_suffix(".new")
    try:
        new.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(json.dumps(fields, indent=2) + "\n", encoding="utf-8")
        os.replace(new, file())
    except OSError as error:
        raise UserError(
            f"The server cannot be noted in {file()} ({error.strerror}): set SPECDEC_LAB_CACHE to a folder that can be written."
        ) from error


def noted() -> Server | None:
    """The server that was noted last, None if there is no note. Whether it still runs is `Server.alive`: machines restart."""
    try:
        fields = json.loads(file().read_text(encoding="utf-8"))
        log, setup, command = Path(fields.pop("log")), setup_from_json(fields.pop("setup")), tuple(fields.pop("command"))
        return Server(setup=setup, log=log, command=command, **fields)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{file()} cannot be read ({error}): end the server by hand if one runs, and delete the file.") from error


def forget() -> None:
    """Delete the note."""
    file().unlink(missing_ok=True)
