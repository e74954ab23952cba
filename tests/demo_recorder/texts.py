"""Source files, logs and listings of the three made-up projects that the demo's sessions work on."""

import base64
import random
import struct
import zlib
from textwrap import dedent

NOUNS: dict[str, tuple[str, ...]] = {
    "invoice": ("status", "currency", "due_date", "total", "customer_id"),
    "refund": ("reason", "amount", "approved_by", "invoice_id"),
    "payout": ("bank_account", "amount", "scheduled_for", "state"),
    "subscription": ("plan", "renews_on", "seats", "discount"),
    "customer": ("country", "tax_number", "segment", "owner_id"),
    "ledger_entry": ("account", "amount", "posted_on", "counterpart"),
    "tax_rate": ("region", "percentage", "valid_from", "valid_until"),
    "credit_note": ("invoice_id", "amount", "issued_on", "reason"),
    "dunning_notice": ("level", "invoice_id", "sent_on", "channel"),
    "price_list": ("currency", "valid_from", "segment", "rounding"),
    "dispute": ("card_network", "opened_on", "amount", "outcome"),
    "settlement": ("provider", "settled_on", "gross", "fees"),
}


def title(noun: str) -> str:
    """The noun as a class name."""
    return "".join(part.capitalize() for part in noun.split("_"))


def plural(noun: str) -> str:
    """The noun as a table or module name."""
    return noun[:-1] + "ies" if noun.endswith("y") else noun + "s"


def words(noun: str) -> str:
    """The plural as people write it."""
    return plural(noun).replace("_", " ")


def fill(template: str, **values: str) -> str:
    """A dedented template with its <names> replaced."""
    text = dedent(template).strip("\n")
    for name, value in values.items():
        text = text.replace(f"<{name}>", value)
    return text + "\n"


def service_module(noun: str) -> str:
    """`orchard/<noun>s.py`: reading and changing one kind of record."""
    head = """
        \"\"\"<Words>: what the API stores about them, and the only code that changes them.\"\"\"

        from __future__ import annotations

        from collections.abc import Iterator
        from dataclasses import dataclass
        from datetime import UTC, date, datetime
        from decimal import Decimal

        from sqlalchemy import func, select
        from sqlalchemy.orm import Session

        from orchard.audit import record_change
        from orchard.errors import Conflict, NotFound
        from orchard.models import <Noun>
        from orchard.paging import Page, paginate

        MAX_PAGE = 200


        @dataclass(frozen=True)
        class <Noun>Filter:
            \"\"\"Which <words> a list is about; an empty field does not narrow it.\"\"\"

            account_id: int
            since: date | None = None
            until: date | None = None


        def get_<noun>(session: Session, account_id: int, <noun>_id: int) -> <Noun>:
            \"\"\"One of the account's <words>; NotFound if there is none, or it is another account's.\"\"\"
            row = session.get(<Noun>, <noun>_id)
            if row is None or row.account_id != account_id:
                raise NotFound("<noun>", <noun>_id)
            return row


        def list_<nouns>(session: Session, chosen: <Noun>Filter, page: int = 1) -> Page[<Noun>]:
            \"\"\"The account's <words>, newest first.\"\"\"
            query = select(<Noun>).where(<Noun>.account_id == chosen.account_id)
            if chosen.since is not None:
                query = query.where(<Noun>.created_at >= chosen.since)
            if chosen.until is not None:
                query = query.where(<Noun>.created_at < chosen.until)
            return paginate(session, query.order_by(<Noun>.created_at.desc()), page, MAX_PAGE)


        def iterate_<nouns>(session: Session, chosen: <Noun>Filter) -> Iterator[<Noun>]:
            \"\"\"Every row a filter finds, in batches, for exports that do not fit into memory.\"\"\"
            query = select(<Noun>).where(<Noun>.account_id == chosen.account_id).order_by(<Noun>.id)
            yield from session.scalars(query.execution_options(yield_per=500))
    """
    field_part = """


        def change_<field>(session: Session, account_id: int, <noun>_id: int, <field>: object, actor: str):
            \"\"\"Set <field_words>; refuses when somebody else changed the row since it was read.\"\"\"
            row = get_<noun>(session, account_id, <noun>_id)
            if row.locked_at is not None:
                raise Conflict(f"<noun> {row.id} was closed on {row.locked_at:%Y-%m-%d}")
            before, row.<field> = row.<field>, <field>
            row.updated_at = datetime.now(UTC)
            record_change(session, row, field="<field>", before=before, after=<field>, actor=actor)
            return row


        def count_by_<field>(session: Session, account_id: int) -> dict[str, int]:
            \"\"\"How many <words> there are for each <field_words>.\"\"\"
            query = (
                select(<Noun>.<field>, func.count())
                .where(<Noun>.account_id == account_id)
                .group_by(<Noun>.<field>)
            )
            return {str(value): count for value, count in session.execute(query)}
    """
    names = {"noun": noun, "nouns": plural(noun), "Noun": title(noun), "words": words(noun)}
    text = fill(head, Words=words(noun).capitalize(), **names)
    for field in NOUNS[noun]:
        body = dedent(field_part).rstrip() + "\n"
        for name, value in {**names, "field": field, "field_words": field.replace("_", " ")}.items():
            body = body.replace(f"<{name}>", value)
        text += body
    return text


def report_module(noun: str) -> str:
    """`orchard/reports/<noun>_report.py`: the monthly report, still with its SQL inside."""
    template = '''
        """The monthly report on <words>, as finance downloads it."""

        from __future__ import annotations

        from datetime import date

        from sqlalchemy import text
        from sqlalchemy.orm import Session

        from orchard.reports.base import Report, Row, month_bounds

        COLUMNS = ("month", <columns>, "rows", "amount")


        class <Noun>Report(Report):
            """One row a month and <first>; amounts in the account's currency."""

            name = "<nouns>"
            columns = COLUMNS

            def rows(self, session: Session, account_id: int, month: date) -> list[Row]:
                start, end = month_bounds(month)
                # Built by hand since the first release; the filters were added one by one.
                sql = "SELECT date_trunc('month', created_at) AS month, <first>, count(*), sum(amount) "
                sql += "FROM <nouns> WHERE account_id = " + str(account_id)
                sql += " AND created_at >= '" + start.isoformat() + "'"
                sql += " AND created_at < '" + end.isoformat() + "'"
        <filters>
                sql += " GROUP BY 1, 2 ORDER BY 1, 2"
                found = session.execute(text(sql))
                return [Row(month=row[0], key=row[1], count=row[2], amount=row[3]) for row in found]

            def totals(self, session: Session, account_id: int, year: int) -> list[Row]:
                """Twelve months at once; slow on accounts with more than a million <words>."""
                result: list[Row] = []
                for number in range(1, 13):
                    result.extend(self.rows(session, account_id, date(year, number, 1)))
                return self.fill_gaps(result, year)

            def fill_gaps(self, rows: list[Row], year: int) -> list[Row]:
                """Months without a row get one with zeros, so that charts do not skip them."""
                seen = {(row.month.month, row.key) for row in rows}
                keys = sorted({row.key for row in rows})
                for number in range(1, 13):
                    for key in keys:
                        if (number, key) not in seen:
                            rows.append(Row(month=date(year, number, 1), key=key, count=0, amount=0))
                return sorted(rows, key=lambda row: (row.month, row.key))
    '''
    fields = NOUNS[noun]
    part = '        if self.filters.get("{0}"):\n'
    part += '            sql += " AND {0} = \'" + str(self.filters["{0}"]) + "\'"\n'
    filters = "".join(part.format(field) for field in fields).rstrip("\n")
    text = fill(
        template,
        noun=noun,
        nouns=plural(noun),
        Noun=title(noun),
        words=words(noun),
        first=fields[0],
        columns=", ".join(f'"{field}"' for field in fields[:2]),
    )
    return text.replace("<filters>", filters)


def test_module(noun: str) -> str:
    """`tests/reports/test_<noun>_report.py`."""
    head = '''
        """The <noun> report adds up, and only over the account's own rows."""

        from datetime import date

        import pytest

        from orchard.reports.<noun>_report import <Noun>Report
        from tests.factories import make_account, make_<noun>

        MARCH = date(2026, 3, 1)


        @pytest.fixture
        def account(session):
            return make_account(session, currency="EUR")
    '''
    part = '''


        def test_it_filters_by_<field>(session, account):
            """Rows with another <field_words> are left out of the sums."""
            make_<noun>(session, account, <field>="a", created_at=MARCH, amount=1200)
            make_<noun>(session, account, <field>="b", created_at=MARCH, amount=800)
            report = <Noun>Report(filters={"<field>": "a"})
            rows = report.rows(session, account.id, MARCH)
            assert [(row.count, row.amount) for row in rows] == [(1, 1200)]
    '''
    text = fill(head, noun=noun, Noun=title(noun))
    for field in NOUNS[noun]:
        body = dedent(part).rstrip() + "\n"
        names = {"noun": noun, "Noun": title(noun), "field": field, "field_words": field.replace("_", " ")}
        for name, value in names.items():
            body = body.replace(f"<{name}>", value)
        text += body
    return text


def component(name: str, props: tuple[str, ...]) -> str:
    """`src/components/<Name>.tsx`: a component of the shop."""
    template = """
        import { useCallback, useMemo, useState } from "react";

        import { formatMoney } from "../lib/money";
        import { useCart } from "../state/cart";
        import styles from "./<Name>.module.css";

        export interface <Name>Props {
        <types>
          onDone?: () => void;
        }

        /** <Words> in the checkout column; keeps no state that the cart already has. */
        export function <Name>({ <props>, onDone }: <Name>Props) {
          const cart = useCart();
          const [busy, setBusy] = useState(false);
          const [problem, setProblem] = useState<string | null>(null);

          const total = useMemo(
            () => cart.lines.reduce((sum, line) => sum + line.quantity * line.unitPrice, 0),
            [cart.lines],
          );

          const submit = useCallback(async () => {
            setBusy(true);
            setProblem(null);
            try {
              await cart.save({ <props> });
              onDone?.();
            } catch (error) {
              setProblem(error instanceof Error ? error.message : String(error));
            } finally {
              setBusy(false);
            }
          }, [cart, <props>, onDone]);

          return (
            <section className={styles.root} aria-busy={busy}>
              <h2><Words></h2>
        <fields>
              <p className={styles.total}>{formatMoney(total, cart.currency)}</p>
              {problem && <p role="alert">{problem}</p>}
              <button type="button" onClick={submit} disabled={cart.lines.length === 0}>
                Continue
              </button>
            </section>
          );
        }
    """
    spaced = "".join(" " + c.lower() if c.isupper() else c for c in name).strip().capitalize()
    fields = "\n".join(
        f"      <label className={{styles.field}}>\n        <span>{prop}</span>\n"
        f'        <output data-testid="{prop}">{{{prop} || "not set"}}</output>\n      </label>'
        for prop in props
    )
    text = fill(template, Name=name, Words=spaced, props=", ".join(props))
    types = "\n".join(f"  {prop}: string;" for prop in props)
    return text.replace("<types>", types).replace("<fields>", fields)


def rust_module(name: str, kinds: tuple[str, ...]) -> str:
    """`src/<name>.rs`: a part of the note tool."""
    text = fill(
        """
        //! <Name>: finds and orders notes without holding them all in memory.

        use std::fs;
        use std::io;
        use std::path::{Path, PathBuf};

        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Note {
            pub path: PathBuf,
            pub title: String,
            pub tags: Vec<String>,
        }

        /// Every note below `root`, skipping folders whose name begins with a dot.
        pub fn walk(root: &Path) -> io::Result<Vec<PathBuf>> {
            let mut found = Vec::new();
            let mut pending = vec![root.to_path_buf()];
            while let Some(folder) = pending.pop() {
                for entry in fs::read_dir(&folder)? {
                    let path = entry?.path();
                    let hidden = path.file_name().is_some_and(|n| n.to_string_lossy().starts_with('.'));
                    if path.is_dir() && !hidden {
                        pending.push(path);
                    } else if path.extension().is_some_and(|e| e == "md") {
                        found.push(path);
                    }
                }
            }
            found.sort();
            Ok(found)
        }
        """,
        Name=name.capitalize(),
    )
    for kind in kinds:
        text += "\n" + fill(
            """
            /// The first <kind> line of a note, without its marker; `None` if it has none.
            pub fn find_<kind>(text: &str) -> Option<&str> {
                text.lines()
                    .map(str::trim)
                    .find_map(|line| line.strip_prefix("<kind>:"))
                    .map(str::trim)
                    .filter(|value| !value.is_empty())
            }
            """,
            kind=kind,
        )
    return text


def numbered(text: str, start: int = 1) -> str:
    """A file's text as the Read tool shows it."""
    return "\n".join(f"{number:6d}\t{line}" for number, line in enumerate(text.splitlines(), start))


def pytest_output(package: str, passed: int, failure: str = "") -> str:
    """What a test run prints."""
    files = max(1, passed // 9)
    lines = [f"tests/{package}/test_{n:02d}.py {'.' * 9} [{100 * n // files:3d}%]" for n in range(1, files + 1)]
    if failure:
        lines += [
            "",
            "=" * 30 + " FAILURES " + "=" * 30,
            failure,
            "=" * 27 + " short test summary " + "=" * 23,
        ]
        return "\n".join([*lines, f"1 failed, {passed} passed in {passed * 0.031:.2f}s"])
    return "\n".join([*lines, "", f"{passed} passed in {passed * 0.031:.2f}s"])


def server_log(chance: random.Random, lines: int, day: str) -> str:
    """Requests and slow queries as the API logs them."""
    made = []
    for number in range(lines):
        noun = chance.choice(list(NOUNS))
        took = chance.choice((14, 22, 31, 48, 95, 240, 1_870, 6_420))
        time = f"{day}T{8 + number // 60:02d}:{number % 60:02d}:{chance.randrange(60):02d}Z"
        made.append(
            f"{time} {'WARN slow' if took > 1_000 else 'INFO'} GET /v2/reports/{plural(noun)}"
            f"?month=2026-{chance.randint(1, 9):02d} account={chance.randint(1000, 9999)} "
            f"rows={chance.randint(0, 5000)} {took}ms"
        )
    return "\n".join(made)


def listing(chance: random.Random, rows: int) -> str:
    """Every route of the API with its size and age, as a script prints it."""
    made = []
    for number in range(rows):
        noun = chance.choice(list(NOUNS))
        field = chance.choice(NOUNS[noun])
        made.append(
            f"{number:5d}  {chance.randint(200, 90_000):7d}  "
            f"/v2/{plural(noun)}/{{id}}/{field.replace('_', '-')}"
            f"  handlers/{plural(noun)}.py:{chance.randint(10, 700)}  last called {chance.randint(1, 400)} "
            "days ago"
        )
    return "\n".join(made)


def lockfile(chance: random.Random, packages: int) -> str:
    """The beginning of a package-lock.json."""
    stems = (
        "router",
        "query",
        "forms",
        "parser",
        "stream",
        "colors",
        "schema",
        "glob",
        "cache",
        "events",
        "path",
        "retry",
    )
    entries = []
    for number in range(packages):
        name = f"{chance.choice(stems)}-{chance.choice(stems)}"
        version = f"{chance.randint(0, 9)}.{chance.randint(0, 30)}.{chance.randint(0, 12)}"
        digest = base64.b64encode(chance.randbytes(32)).decode()
        entries.append(
            f'    "node_modules/{name}": {{\n      "version": "{version}",\n'
            f'      "integrity": "sha256-{digest}",\n'
            f'      "dev": {"true" if number % 3 else "false"}\n    }}'
        )
    return '{\n  "name": "lantern-web",\n  "lockfileVersion": 3,\n  "packages": {\n' + ",\n".join(entries) + "\n  }\n}"


HEIGHTS = {390: 844, 820: 1180, 1280: 800}
"""Pixels of a screenshot, by its width."""


def picture(chance: random.Random, width: int = 1280) -> str:
    """A screenshot: a valid PNG in base64, as large as it would be, one flat grey."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, HEIGHTS[width], 1, 0, 0, 0, 0)
    rows = (b"\x00" + chance.randbytes(3)[:1] * -(-width // 8)) * HEIGHTS[width]
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return base64.b64encode(png).decode()
