"""The three made-up projects: their files as the sessions find them, and their instructions."""

import random

from tests.demo_recorder.texts import (
    NOUNS,
    component,
    lockfile,
    plural,
    report_module,
    rust_module,
    service_module,
    test_module,
    title,
    words,
)

INSTRUCTIONS = {
    "CLAUDE.md": "# How I work\n\n- Say what you are about to change before you change it.\n"
    "- Run the tests of what you touched, not the whole suite.\n- Commit messages: one line, what and why.\n",
    "work/orchard-api/CLAUDE.md": "# orchard-api\n\nBilling API. Python 3.12, SQLAlchemy, Postgres.\n\n"
    "- `make test` runs everything; `pytest tests/<area>` is usually enough.\n"
    "- Money is Decimal, never float. Amounts are stored in minor units.\n"
    "- Every change of a row goes through `orchard.audit.record_change`.\n"
    "- Reports must add up to the ledger; `scripts/reconcile.py` checks one month.\n"
    "- Migrations are written by hand and reviewed by two people.\n",
    "work/lantern-web/CLAUDE.md": "# lantern-web\n\nThe shop. React, TypeScript, CSS modules.\n\n"
    "- Check every visible change at 390, 820 and 1280 pixels.\n"
    "- No state in a component that the cart already keeps.\n- Texts come from `src/texts/`, never from a "
    "component.\n",
    "work/fieldnotes/CLAUDE.md": "# fieldnotes\n\nA note tool in Rust. No dependencies beyond clap.\n",
}
MEMORY = (
    "# Memory\n\n- Reports are checked against the February figures in `tests/data/february.csv`.\n"
    "- The staging database is refreshed every Monday at six; slow queries before that are not real.\n"
)

PARTS: dict[str, tuple[str, ...]] = {
    "PaymentButton": ("method", "label"),
    "AddressForm": ("street", "city", "postcode", "country", "phone"),
    "ShippingOptions": ("carrier", "speed", "price"),
    "CouponField": ("code", "message"),
    "OrderSummary": ("items", "subtotal", "tax", "shipping"),
    "CartLine": ("name", "quantity", "price", "image"),
    "GiftOptions": ("wrapping", "note"),
    "ContactForm": ("email", "phone", "newsletter"),
    "DeliveryDate": ("day", "window"),
    "TermsNotice": ("version", "link"),
    "LoyaltyPoints": ("balance", "spend"),
    "ReturnPolicy": ("days", "link"),
    "CountryPicker": ("country", "language"),
    "ProgressSteps": ("current", "steps"),
}

ORCHARD_FILES = {
    "orchard/paging.py": "from dataclasses import dataclass\n\n\n@dataclass(frozen=True)\nclass Page:\n    "
    "rows: list\n"
    "    number: int\n    more: bool\n\n\ndef paginate(session, query, number, size):\n"
    '    """One page; asks for a row more than it returns, to know whether there is another."""\n'
    "    found = list(session.scalars(query.offset((number - 1) * size).limit(size + 1)))\n"
    "    return Page(found[:size], number, len(found) > size)\n",
    "orchard/reports/base.py": '"""What every report is made of."""\n\n'
    + "\n\n".join(
        f"def {verb}_{what}(report, account, month):\n"
        f'    """{verb.capitalize()} the {what} of one report and month; raises ReportError on a month '
        'that is open."""\n'
        f"    report.require_closed(account, month)\n    return report.store.{verb}(account.id, month, "
        f"'{what}')\n"
        for what in ("rows", "totals", "columns", "filters", "currency", "footnotes")
        for verb in ("load", "check", "save")
    ),
    "orchard/models.py": '"""The tables."""\n\n'
    + "\n\n".join(
        f"class {title(noun)}(Base):\n    __tablename__ = '{plural(noun)}'\n    id = "
        "mapped_column(primary_key=True)\n"
        + "".join(f"    {name} = mapped_column(nullable={name.endswith('_id')})\n" for name in fields)
        for noun, fields in NOUNS.items()
    ),
    "docs/reports.md": "# Reports\n\n"
    + "\n".join(
        f"## {words(noun).capitalize()}\n\nFinance downloads this on the second working day. It is grouped "
        "by "
        f"{fields[0].replace('_', ' ')} and must add up to the ledger of the month. Filters: "
        f"{', '.join(fields)}. "
        f"Rows that were corrected after closing appear in the month of the correction.\n"
        for noun, fields in NOUNS.items()
    ),
}

LANTERN_FILES = {
    "package-lock.json": lockfile(random.Random("lock"), 70),
    "node_modules/query-cache/dist/index.js": "\n".join(
        f"exports.{verb}{what} = (key, options = {{}}) => store.{verb}(key, "
        f'{{ ...defaults, ...options, kind: "{what}" }});'
        for what in ("Query", "Mutation", "Page", "Batch", "Stream", "Cache")
        for verb in ("run", "cancel", "retry", "drop", "watch")
    ),
    "docs/design.md": "# Checkout, the new look\n\n"
    + "\n".join(
        f"## {name}\n\nShows {', '.join(props)}. On narrow screens the fields stand below each other with "
        "12 pixels "
        "between them; from 820 pixels on they share a row. Labels stay above the field, never inside it. "
        "Errors stand "
        "below the field they are about, in the text colour, with the mark in front. Focus is a 2 pixel "
        "outline in the "
        "accent colour. Motion is off when the system asks for less of it.\n\n"
        f"| state | {' | '.join(props)} |\n|---|{'---|' * len(props)}\n"
        f"| empty | {' | '.join('placeholder text' for _ in props)} |\n"
        f"| wrong | {' | '.join('message below' for _ in props)} |\n"
        for name, props in PARTS.items()
    ),
    "src/styles/tokens.css": ":root {\n"
    + "".join(f"  --space-{n}: {n * 4}px;\n  --text-{n}: {0.7 + n * 0.1:.1f}rem;\n" for n in range(1, 40))
    + "}\n",
}


def project_files(name: str) -> dict[str, str]:
    """The files of a project that its sessions touch, by path."""
    if name == "orchard-api":
        files = {f"orchard/{plural(noun)}.py": service_module(noun) for noun in NOUNS}
        files |= {f"orchard/reports/{noun}_report.py": report_module(noun) for noun in NOUNS}
        files |= {f"tests/reports/test_{noun}_report.py": test_module(noun) for noun in NOUNS}
        return files | ORCHARD_FILES
    if name == "lantern-web":
        files = {f"src/components/{part}.tsx": component(part, props) for part, props in PARTS.items()}
        return files | LANTERN_FILES
    rust = {
        "index": ("title", "tag", "date"),
        "walk": ("alias",),
        "query": ("tag", "before", "after", "without"),
    }
    return {f"src/{part}.rs": rust_module(part, kinds) for part, kinds in rust.items()} | {
        "README.md": "# fieldnotes\n\nNotes are Markdown files; `fieldnotes find` lists those that match.\n",
        "CHANGELOG.md": "# Changes\n\n## 0.4.0\n\n- `find --tag` takes several tags\n- Hidden folders are skipped\n",
    }
