"""Keyed pseudonyms: the same value has the same pseudonym, and only the key shows which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from anon_core.base.errors import BadInput, BadPlan
from anon_core.base.params import choice, flag, text
from anon_core.base.registry import register
from anon_core.contracts.change import Chance, Change, Effect
from anon_core.data.column import Column
from anon_core.data.roles.roles import Role, Roles
from anon_core.data.table import Dataset
from anon_core.methods.changes.keyed import (
    ALPHABETS,
    normalised,
    pseudonym,
    refuse_small,
    same_form,
)
from anon_core.methods.changes.numbers import by_text


@register("change")
@dataclass(frozen=True, kw_only=True)
class Pseudonym(Change):
    """HMAC-SHA-256 of purpose, domain and value, shortened (RFC 2104); or FF1 of the value."""

    name: ClassVar[str] = "pseudonym"
    title: ClassVar[str] = "Keyed pseudonyms"
    summary: ClassVar[str] = (
        "Replaces each value of an identifier with a code that only holders of the secret key can"
        " compute. Equal values have equal codes, so rows and tables of one domain can be joined."
    )
    when: ClassVar[str] = (
        "Use it where the recipient has to join rows of one person; never as the only protection, "
        "since it leaves rows per person, their order and every other column, and stays personal "
        "data for anyone who can reach the key."
    )
    formula: ClassVar[str] = (
        "x ← first t bits of HMAC-SHA-256(K, len‖purpose‖len‖domain‖len‖value) in base32; K has "
        "exactly 32 bytes; two values meet with chance ≤ n(n − 1) / 2^(t+1). Or x ← FF1 with "
        "AES-256 under K, the domain as its tweak"
    )
    source: ClassVar[str] = (
        "Krawczyk, Bellare and Canetti 1997, RFC 2104; EDPB Guidelines 01/2025 on "
        "pseudonymisation; NIST SP 800-38G (FF1)"
    )
    leaves: ClassVar[str] = (
        "It leaves how many rows a person has, their histories, joins within the domain, and every "
        "other column; who knows how many rows each person has may name them by that alone."
    )
    of_roles: ClassVar[tuple[Role, ...]] = ("identifier", "person")
    effect: ClassVar[Effect] = Effect(needs_key=True, replaces=False, joins_rows=True)

    domain: str = text(
        default="person",
        help="Recipient or project, and kind of thing. Columns and tables of one domain can be "
        "joined; those of different domains cannot.",
        label="Domain",
    )
    form: str = choice(
        default="code",
        options=("code", "kept"),
        help="A code has any value. With 'kept', digits become digits, and the key decrypts what "
        "is published; check digits no longer fit.",
        label="Form",
    )
    alphabet: str = choice(
        default="digits",
        options=tuple(ALPHABETS),
        help="Signs that change where the form is kept: digits, or also small or capital letters.",
        label="Signs that change",
    )
    bits: str = choice(
        default="80",
        options=("60", "70", "80", "100", "120"),
        help="Length of a pseudonym; 80 bits are 16 characters.",
        label="Bits",
    )
    fold_case: bool = flag(
        default=False,
        help="Whether values that differ in capital letters only are one person.",
        label="Small and capital letters are the same",
    )

    def run(
        self, table: Dataset, columns: Sequence[str], roles: Roles, chance: Chance
    ) -> Mapping[str, Column]:
        """Return the columns as pseudonyms; a missing value stays missing.

        Raises
        ------
        BadInput
            If two values have one pseudonym: two persons would look like one. Where the form is
            kept, if there are fewer than 10^6 of it, or signs would stay.
        BadPlan
            If a length of codes is given for a form that is kept, or an alphabet for codes.
        """
        kept = self.form == "kept"
        if (kept and self.bits != "80") or (not kept and self.alphabet != "digits"):
            raise BadPlan(
                "A form that is kept has no length in bits."
                if kept
                else "Codes have an alphabet of their own.",
                remedy="Leave it out." if kept else "Leave it out, or set form to 'kept'.",
            )
        encrypted = same_form(chance.key, self.domain, self.alphabet) if kept else None
        found: dict[str, Column] = {}
        for name in columns:
            of: dict[str, str] = {}
            if kept:
                _, texts = table.column(name).as_read
                plains = [normalised(t, fold=self.fold_case) for t in texts]
                refuse_small(plains, name, self.alphabet)

            def code_of(value: str, name: str = name, of: dict[str, str] = of) -> str:
                plain = normalised(value, fold=self.fold_case)
                made = (
                    pseudonym(
                        chance.key, self.domain, value, bits=int(self.bits), fold=self.fold_case
                    )
                    if encrypted is None
                    else encrypted(plain)
                )
                if of.setdefault(made, plain) != plain:
                    raise BadInput(
                        f"Two values of '{name}' have the same pseudonym of {self.bits} bits.",
                        remedy="Choose longer pseudonyms.",
                        values=[of[made], plain],
                    )
                return made

            found[name] = by_text(table.column(name), code_of, kind="text")
        return found
