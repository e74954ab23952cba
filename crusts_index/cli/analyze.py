"""`crusts analyze`: what fills a session's window, by category, and what to do about it."""

from __future__ import annotations

from typing import Any

from crusts_index.cli import options, show
from crusts_index.cli.calibrated import COLUMNS, cells, compare_last, comparison_json
from crusts_index.cli.session import opened
from crusts_index.insight.session.model_history import model_history
from crusts_index.insight.waste.thresholds import overrides_of, thresholds_of
from crusts_index.insight.window.buckets import lifetime_of
from crusts_index.insight.window.toolset import toolset_of
from crusts_index.insight.window.words import window_json
from crusts_index.render import analysis, analysis_json, bill, console
from crusts_index.render.actions import actions_json, actions_text, recommendations_json
from crusts_index.render.contents import contents_json
from crusts_index.render.waste_json import waste_json
from crusts_index.rows.session import Billed
from crusts_index.store.settings import Settings


def analyze(
    settings: Settings,
    session: options.Session = None,
    last: options.Last = None,
    until: options.UntilMessage = None,
) -> None:
    """What fills the context window of a session, in six categories, and when it will be compacted.

    The window's size is exact: the context of its last call and that call's output, as billed (derived where
    the output logged is a placeholder). What fills it is estimated from the transcript and scaled to that
    size, as long as the estimates are within 0.7 to 1.4 of it. --verbose says where each number comes from.
    """
    with opened(settings) as store:
        facts, window = store.look(store.choose(session, last), until)
        (current, contents), lifetime = store.filled(facts, window), lifetime_of(facts, window)
        toolset, history = toolset_of(facts, window.fixed_context), model_history(facts)
        waste = store.waste(facts, window)
        actions = store.actions(facts, window, waste)
        billed = None if facts.is_partial else store.fetch(Billed, session=facts.session.session_id)[0]
        calibration = compare_last(store, facts.session.session_id) if facts.context_reports else []
    if settings.json:
        document: dict[str, Any] = {
            "sessionId": facts.session.session_id,
            "project": facts.session.project,
            "title": facts.session.title,
            "messageCount": facts.session.messages,
            "until": facts.until if facts.is_partial else None,
            "trimmedMessages": facts.trimmed,
            "window": window_json(window),
            "contents": contents_json(contents),
            "breakdown": analysis_json.breakdown_json(facts, window, current, lifetime, toolset, history),
            "cost": bill.as_json(billed) if billed else None,
            "waste": waste_json(waste),
            "actions": actions_json(actions),
            "recommendations": recommendations_json(actions, window),
            "calibration": comparison_json(calibration) or None,
            "configData": analysis_json.config_json(facts, toolset),
        }
        show.document(document)
        return
    page = show.page(settings)
    analysis.analysis_text(page, facts, window, current, lifetime, contents, toolset, history, billed)
    if billed:
        bill.as_text(page, billed)
    analysis.findings(page, waste)
    actions_text(page, actions)
    if calibration:
        page.head("Against the session's last /context")
        page.rows(COLUMNS, [cells(one) for one in calibration])
    if settings.verbose:
        analysis.explanations(page, facts, window, current, overrides_of(thresholds_of(settings.config)))
    console.put(page.text())
