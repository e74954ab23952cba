"""Tool uses with results that fit: reads show the file as it stands, edits change it."""

from collections.abc import Sequence

from tests.demo_recorder.recorder import Json, Recorder, Tool, image, tokens_of
from tests.demo_recorder.texts import numbered

ORIGINAL_KEPT = 3_000  # characters up to which an edit logs the whole file beside itself


def read(s: Recorder, path: str, *, offset: int | None = None, limit: int | None = None) -> Tool:
    """Read a file of the project, or a range of its lines."""
    full, text = str(s.cwd / path), s.files[path]
    lines = text.splitlines()
    start = offset or 1
    part = lines[start - 1 : start - 1 + limit] if limit else lines[start - 1 :]
    content = "\n".join(part)
    file = {
        "filePath": full,
        "content": content,
        "numLines": len(part),
        "startLine": start,
        "totalLines": len(lines),
    }
    given: Json = {"file_path": full}
    if limit:
        given |= {"offset": start, "limit": limit}
    return Tool("Read", given, numbered(content, start), {"type": "text", "file": file})


def edit(s: Recorder, path: str, old: str, new: str) -> Tool:
    """Replace one passage of a file."""
    full, before = str(s.cwd / path), s.files[path]
    if old not in before:
        raise ValueError(f"{path} does not contain the passage to replace")
    s.files[path] = before.replace(old, new, 1)
    at = before[: before.index(old)].count("\n") + 1
    removed, added = old.splitlines(), new.splitlines()
    patch = {
        "oldStart": at,
        "oldLines": len(removed),
        "newStart": at,
        "newLines": len(added),
        "lines": [*(f"-{line}" for line in removed), *(f"+{line}" for line in added)],
    }
    kept = {
        "filePath": full,
        "oldString": old,
        "newString": new,
        "originalFile": before if len(before) <= ORIGINAL_KEPT else None,
        "structuredPatch": [patch],
        "userModified": False,
        "replaceAll": False,
    }
    given = {"file_path": full, "old_string": old, "new_string": new, "replace_all": False}
    return Tool("Edit", given, f"The file {full} has been updated successfully.", kept)


def write(s: Recorder, path: str, text: str) -> Tool:
    """Make a new file."""
    full = str(s.cwd / path)
    s.files[path] = text
    kept: Json = {
        "type": "create",
        "filePath": full,
        "content": text,
        "structuredPatch": [],
        "originalFile": None,
    }
    return Tool("Write", {"file_path": full, "content": text}, f"File created successfully at: {full}", kept)


def bash(command: str, output: str = "", *, why: str = "", fails: bool = False) -> Tool:
    """Run a command."""
    given = {"command": command, "description": why or f"Run {command.split()[0]}"}
    if fails:
        return Tool("Bash", given, f"Exit code 1\n{output}", f"Error: Exit code 1\n{output}", is_error=True)
    kept = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False}
    return Tool("Bash", given, output, kept)


def grep(pattern: str, files: Sequence[str]) -> Tool:
    """Search for a pattern; the result lists files."""
    kept = {"mode": "files_with_matches", "filenames": list(files), "numFiles": len(files)}
    shown = f"Found {len(files)} files\n" + "\n".join(files)
    return Tool("Grep", {"pattern": pattern, "output_mode": "files_with_matches"}, shown, kept)


def mcp(server: str, tool: str, given: Json, text: str, *, picture: str = "") -> Tool:
    """Use a tool of an MCP server; the result may carry a picture."""
    content: list[Json] = [{"type": "text", "text": text}]
    if picture:
        content.append(image(picture))
    return Tool(f"mcp__{server}__{tool}", given, content, [{"type": "text", "text": text}])


def tool_search(query: str, names: Sequence[str], deferred: int) -> Tool:
    """Load the schemas of deferred tools."""
    content: list[Json] = [{"type": "tool_reference", "tool_name": name} for name in names]
    kept = {"matches": list(names), "query": query, "total_deferred_tools": deferred}
    return Tool("ToolSearch", {"query": query, "max_results": 5}, content, kept)


def agent(thread: Recorder, kind: str, task: str, prompt: str, report: str) -> Tool:
    """Hand a task to a subagent, whose own thread is `thread`."""
    seconds = (thread.now - thread.start).total_seconds()
    kept = {
        "status": "completed",
        "prompt": prompt,
        "agentId": thread.agent,
        "agentType": kind,
        "content": [{"type": "text", "text": report}],
        "totalDurationMs": round(seconds * 1_000),
        "totalTokens": thread.held,
        "totalToolUseCount": sum(b'"type":"tool_use"' in line for line in thread.lines),
    }
    given = {"description": task, "prompt": prompt, "subagent_type": kind}
    return Tool("Agent", given, [{"type": "text", "text": report}], kept)


def load_cost(names: Sequence[str]) -> int:
    """Tokens that loaded schemas add to the window: an MCP tool's are smaller than a built-in one's."""
    return sum(330 if name.startswith("mcp__") else 1_000 for name in names)


def mention(s: Recorder, path: str) -> str:
    """A file the person named with @: it is attached whole."""
    full, text = str(s.cwd / path), s.files[path]
    count = len(text.splitlines())
    file = {"filePath": full, "content": text, "numLines": count, "startLine": 1, "totalLines": count}
    content = {"type": "text", "file": file}
    return s.attach("file", adds=tokens_of(text), filename=full, content=content, displayPath=path)


def hook(s: Recorder, event: str, command: str, *, matcher: str = "", context: str = "", took: int = 40) -> None:
    """A hook that ran; `context` is what it told the model, if anything."""
    name = f"{event}:{matcher}" if matcher else event
    marks: Json = {"hookName": name, "hookEvent": event, "toolUseID": s.new_id("toolu")}
    run: Json = {
        "content": "",
        "stdout": "",
        "stderr": "",
        "exitCode": 0,
        "durationMs": took,
        "command": command,
    }
    s.attach("hook_success", **marks, **run)
    if context:
        s.attach("hook_additional_context", adds=tokens_of(context), content=[context], **marks)
