"""The SQL of a report as the `sqlite3` shell runs it: its parameters may be unset, and times be text. Spec: D6."""

import re

_PARAMETER = re.compile(r"^--   :(\w+) +(.*)$", re.MULTILINE)
_WORDS = re.compile(r"--[^\n]*|'[^']*'|:(\w+)\b")
_TIME = "UTC milliseconds"
_LAST_ACTIVE = re.compile("last active|^(?!.*null)")
_BEHIND_COMMENT = re.compile(r"^(?!--)", re.MULTILINE)
_SAID_OF_TRANSCRIPT = re.compile(r"^(--   :transcript +)(.*)$", re.MULTILINE)
_SAID_OF_SESSION = re.compile(r"^(--   :session +)the session's id", re.MULTILINE)
_SAID_OF_NOW = re.compile(rf"^(--   :\w+ +{_TIME})(?!.*null)(.*)$", re.MULTILINE)
_SAID_OF_TIME = re.compile(rf"^(--   :\w+ +{_TIME})", re.MULTILINE)
_OPENING = re.compile(r"with( recursive)?\s+")
_NOW = "1000 * strftime('%s')"
_FORMS = "2026-11-30 or 2026-11-30T13:00Z"

# Whatever a function of SQLite does not understand it repeats in its message, and that ends the statement.
_MOMENT = """
  select case when :{name} is null then {unset} else ifnull(
    case
      when typeof(:{name}) in ('integer', 'real') then iif(:{name} = 0 or :{name} between 1e10 and 3e14, :{name}, null)
      when date(substr(:{name}, 1, 10), '+0 days') = substr(:{name}, 1, 10)
      then 1000 * strftime('%s', :{name},{days}
        iif(:{name} glob '*[Zz]' or :{name} glob '*[-+][0-9][0-9]:[0-9][0-9]', '+0 days', 'utc'))
    end,
    json_extract('{{}}', ':{name} is no time such as {forms}: ' || :{name})
  ) end
"""
_SESSION = """
  select ifnull(
    (
      select s.session_id
      from sessions as s join transcripts as t on t.session_id = s.id
      where :session is null or substr(s.session_id, 1, length(:session)) = :session
      group by s.id
      order by max(t.kind = 'main' and t.last_message_ms is not null) desc,
               max(coalesce(t.last_message_ms, t.last_ms)) desc, s.session_id
      limit 1
    ),
    json_extract('{}', ':session begins no id: ' || :session)
  )
"""
_TRANSCRIPT = """
  select ifnull(:transcript, (
    select t.id
    from transcripts as t join sessions as s on s.id = t.session_id
    where s.session_id = (select session from asked_session) and t.kind = 'main' and t.in_view = 1
    order by t.first_ms desc, t.path desc
    limit 1
  ))
"""
_EXAMPLES = {"session": "0198a3", "since": "2026-11-30", "until": "2026-11-30", "before": "2026-11-30", "by": "day"}


def runnable(text: str) -> str:
    """A query of queries/ for the shell, with what its parameters stand for worked out ahead of it.

    What its head calls UTC milliseconds may be text too, a date being the user's day, which `:until` includes; anything
    else ends the statement with a message that names it. A session may be named by how its id begins; where none is, it
    is the one last active, and the transcript its last.
    """
    known = dict(_PARAMETER.findall(text))
    asked: dict[str, str] = {}
    if "transcript" in known or _LAST_ACTIVE.search(known.get("session", "null")):
        asked["session"] = _SESSION
    if "transcript" in known:
        asked["transcript"] = _TRANSCRIPT
    for name in ("since", "until", "before"):
        if (said := known.get(name, "")).startswith(_TIME):
            unset = "null" if "null" in said else _NOW
            days = " iif(length(:until) = 10, '+1 day', '+0 days')," if name == "until" else ""
            asked[name] = _MOMENT.format(name=name, days=days, unset=unset, forms=_FORMS)
    last = _last_comment(text)
    return _head(text[:last], known, asked) + _body(text[last:], asked)


def _last_comment(text: str) -> int:
    """Where the comment at the head of a file ends."""
    end = _BEHIND_COMMENT.search(text)
    return end.start() if end else len(text)


def _head(head: str, known: dict[str, str], asked: dict[str, str]) -> str:
    """The comment, which says of each parameter what it may be here."""
    if "session" in asked:
        said = "how the session's id begins; null = the one last active"
        if "transcript" in asked:
            head = _SAID_OF_TRANSCRIPT.sub(r"\1\2; null = the last of :session", head)
        if "session" in known:
            head = head.replace("; null = the one last active", "")
            head = _SAID_OF_SESSION.sub(rf"\1{said}", head)
        else:
            head = _SAID_OF_TRANSCRIPT.sub(rf"--   :session     {said}\n\g<0>", head)
    head = _SAID_OF_NOW.sub(r"\1\2; null = now", head)
    head = _SAID_OF_TIME.sub(r"\1, or a time as text", head)
    for name, example in _EXAMPLES.items():
        if name in known or name in asked:
            return f"{head}-- In the sqlite3 shell text has both quotes: .parameter set :{name} \"'{example}'\"\n"
    return head


def _body(body: str, asked: dict[str, str]) -> str:
    """The statement, which takes what is asked from the rows that go before it."""
    if not asked:
        return body

    def replaced(found: re.Match[str]) -> str:
        name = found[1]
        return f"(select {name} from asked_{name})" if name in asked else found[0]  # noqa: S608 - a name of the file

    body = _WORDS.sub(replaced, body)
    first = ",\n".join(f"asked_{name} ({name}) as materialized ({said})" for name, said in asked.items())
    opening = _OPENING.match(body)
    if opening is None:
        return f"with\n{first}\n{body}"
    return f"{opening[0].strip()}\n{first},\n{body[opening.end() :]}"
