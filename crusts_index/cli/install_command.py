"""`crusts install-command`: the `/crusts` slash command of Claude Code."""

import os

from crusts_index.claude import roots, slash_command
from crusts_index.claude.files import FileChanged
from crusts_index.cli import show
from crusts_index.cli.declared import Annotated, Option
from crusts_index.errors import CrustsError
from crusts_index.store.settings import Settings, backup_folder

Project = Annotated[bool, Option("--project", help="Into .claude of this folder, for all who work in the project.")]
Remove = Annotated[bool, Option("--remove", help="Take it away again.")]


def install_command(settings: Settings, project: Project = False, remove: Remove = False) -> None:
    """Write the /crusts command, which tells inside a session what fills its window and what to do.

    It goes into Claude Code's config folder, or with --project into this folder. What stood there is copied first.
    """
    folder = os.path.join(os.getcwd(), ".claude") if project else _config_dir(settings)
    act = slash_command.uninstall if remove else slash_command.install
    try:
        done = act(folder, backup_folder(settings))
    except FileChanged as error:
        raise CrustsError(f"{error}: something else has just written to it; run this again") from error
    if done.changed:
        said = [f"Removed {done.path}" if remove else f"Wrote {done.path}: type /crusts in Claude Code."]
        said += [f"What stood there is kept in {done.backup}"] if done.backup else []
    else:
        said = [f"There is none at {done.path}." if remove else f"Already there: {done.path}"]
    show.say(settings, {"path": done.path, "changed": done.changed, "backup": done.backup}, *said)


def _config_dir(settings: Settings) -> str:
    """The config folder of the first root that was named, else the one that Claude Code uses."""
    if settings.roots:
        first = roots.find_roots(settings.roots[:1], settings.roots_from, os.environ)[0]
        if first.config_dir is None:
            raise CrustsError(f"{first.projects_dir} has no config folder: name one with --path")
        return first.config_dir
    return roots.config_dir(os.environ)
