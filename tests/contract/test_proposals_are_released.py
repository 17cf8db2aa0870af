"""Every proposed hierarchy can be published at each of its levels, and verified.

A label that the workbench wrote is none that it refuses or asks about, in either computation.
"""

from __future__ import annotations

import datetime

import pandas as pd
import pytest

from anon_core import Dataset, Plan, run
from anon_core.data.hierarchy.propose.proposals import propose

DAY = datetime.date(2019, 1, 1)
#: Values of a column, by what they are.
COLUMNS = {
    "ages": [str(n) for n in range(3, 97, 5)],
    "amounts": [f"{n * n * 37}.50" for n in range(1, 18)],
    "negative": [str(n) for n in range(-40, 41, 9)],
    "dates": [str(DAY + datetime.timedelta(41 * n)) for n in range(20)],
    "days written": [f"{n + 12}.0{n % 9 + 1}.2020" for n in range(14)],
    "moments": [f"2023-0{n % 9 + 1}-1{n % 9} 1{n % 9}:30:00" for n in range(18)],
    "months": [f"20{10 + n // 5}-{n % 12 + 1:02}" for n in range(20)],
    "quarters": [f"Q{n % 4 + 1} {2018 + n // 4}" for n in range(12)],
    "times": [f"{n}:{n * 7 % 60:02}" for n in range(24)],
    "codes": [f"{n * 4799 % 90000 + 10000}" for n in range(20)],
    "letters and figures": [f"{'ABC'[n % 3]}{n * 37 % 900 + 100}" for n in range(20)],
    "two parts": [f"{100 + n // 4} {10 + n % 4}" for n in range(20)],
    "addresses": [f"10.{n % 3}.{n % 5}.{n}" for n in range(20)],
    "ICD-10": ["I10", "I21.0", "I21.4", "E11.9", "J45", "F32.1", "C50.9"],
    "postcodes": ["SW1A 1AA", "SW7 5BD", "SW1A 2AB", "M1 1AE", "M1 2CD", "EC1A 1BB"],
    "bands": ["18-24", "25-34", "35-44", "45-54", "55-64", "65+"],
    "bands of money": ["< 1,000", "1,000-4,999", "5,000-9,999", "10,000-19,999", "20,000+"],
    "grades": [f"Grade {n}" for n in range(1, 13)],
    "stages": ["Stage I", "Stage II", "Stage IIIa", "Stage IIIb", "Stage IV"],
    "letters": list("ABCDF"),
    "weekdays": ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
    "month names": ["January", "February", "March", "May", "June", "November", "December"],
    "answers": ["strongly disagree", "disagree", "neutral", "agree", "strongly agree"],
    "sizes": ["XS", "S", "M", "L", "XL"],
    "countries": ["Peru", "Chile", "Mali", "Cuba", "France", "Germany", "Japan"],
    "jobs": ["Head nurse", "Nurse", "Civil engineer", "Engineer", "Teacher", "Primary teacher"],
    "phones": [f"+49 30 {1234567 + n * 98765}" for n in range(15)],
    "plates": [f"B-{'AX'[n % 2]}Y {n * 7}" for n in range(1, 15)],
}


@pytest.mark.parametrize("what", COLUMNS)
def test_every_proposal_is_published_and_verified(what: str) -> None:
    values = [value for value in COLUMNS[what] for _ in range(3)]
    ill = [("flu", "cold", "gout")[n % 3] for n in range(len(values))]
    table = Dataset.from_frame(pd.DataFrame({"v": values, "ill": ill}))
    for proposal in propose(table.column("v")):
        for level in range(1, proposal.height + 1):
            plan = Plan.from_mapping(
                {
                    "roles": {"quasi": ["v"], "sensitive": ["ill"]},
                    "algorithm": {"name": "fixed-levels", "levels": {"v": level}},
                    "models": [{"name": "k-anonymity", "k": 2}],
                }
            )
            result = run(plan, table, {"v": proposal.rows})
            assert result.verification.holds, (proposal.builder, level, proposal.rows[0])
