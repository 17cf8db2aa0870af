"""How many people of a population are unique, estimated from a sample and the population's size.

Three estimators of the disclosure-control literature, and the rule by which one of them is taken.
All of them see nothing but how many classes of the sample have how many rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from anon_core.base.arrays import B1, F64, I32, I64
from anon_core.base.context import Context
from anon_core.methods.matching.fitting_people import matched
from anon_core.methods.matching.fitting_rows import fits
from anon_core.release.attack_result import Cell, Details
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import per_cent
from anon_core.release.release import Persons, View

_SINGLES = 5
_NONE = (
    "0 by construction: no published class has a single row, so these estimators have nothing to "
    "go by. That does not mean that no one can be found."
)
_NOTE = (
    "Indicative: three estimators of how many people are unique in the population, from the "
    "number of published classes with one row, two rows and so on. Up to a sampling share of 0.1 "
    "Pitman's is taken, or Zayatz's where Pitman's model does not fit; beyond, the smaller of "
    "Zayatz's and the slide negative binomial's (SNB). They assume a simple random sample and a "
    "population of their own model's shape; do not rely on any of them where they differ much."
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Uniques:
    """What is said of unique people in the population.

    Attributes
    ----------
    sentence : str
        Begins with a blank; empty where nothing is said.
    chance : float
        Chance that a row which is a class of its own is that of a person who is unique in the
        population, by the estimate that is taken; 0 where there is none.
    single : bool array of shape (classes,)
        Which classes have one row.
    """

    details: tuple[Details, ...] = ()
    sentence: str = ""
    chance: float = 0.0
    single: B1 = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))


def unique_estimates(view: View, audience: Audience, truth: Truth, context: Context) -> Uniques:
    """Return the estimates in words and bars.

    Nothing is said where a population table is counted instead, or where classes overlap, so that
    their sizes are no sample of anything.
    """
    population = audience.population
    if population is None or population.codes is not None or not view.rows:
        return Uniques()
    persons = matched(view)
    if fits(truth.frequency, view, persons, context).rows_of_person is not None:
        return Uniques()
    sizes = persons.sizes if truth.crowd is None else truth.crowd.sizes
    title = "Unique people in the population, indicative estimates"
    sample = class_sizes(sizes, population.size)
    if not sample.of(1):
        row: dict[str, Cell] = {"estimator": "all", "people": 0, "share": 0.0}
        details = Details(
            title=title, rows=(row,), x="estimator", y=("share",), drawn="table", note=_NONE
        )
        return Uniques(details=(details,), sentence=f" Unique people in the population: {_NONE}")
    if not tells_enough(sample):
        return Uniques(
            sentence=(
                f" How many people of the population are unique is not estimated: {sample.repeats} "
                f"of {sample.rows:,} rows equal another one, and fewer than {LEAST_REPEATS} "
                "are not enough."
            ),
        )
    singles = _singles(view, persons, population.size, context)
    found = estimates(sample)
    details = Details(
        title=title,
        rows=tuple(_row(one, population.size) for one in found),
        x="estimator",
        y=("share",),
        drawn="bars",
        note=_NOTE,
    )
    taken = next(one for one in found if one.chosen)
    if taken.uniques is None:
        return Uniques(details=(details, singles))
    chance = min(taken.uniques * sample.share / sample.of(1), 1.0)
    return Uniques(
        details=(details, singles),
        sentence=(
            f" Indicative: about {taken.uniques:,.0f} people of the population are unique in these "
            f"columns ({taken.name}), {per_cent(chance)} of the {sample.of(1):,} rows that are "
            "alone in their class."
        ),
        chance=chance,
        single=sizes == 1,
    )


def _row(one: Estimate, size: int) -> dict[str, Cell]:
    return {
        "estimator": one.name,
        "people": "no estimate" if one.uniques is None else round(one.uniques, 2),
        "share": 0.0 if one.uniques is None else one.uniques / size,
        "taken": "yes" if one.chosen else "",
    }


def _singles(view: View, persons: Persons, size: int, context: Context) -> Details:
    """Return how likely single rows are unique in the population; the first of very many."""
    single = np.flatnonzero(persons.sizes == 1)[:_SINGLES]
    copula = fitted(persons.codes, persons.sizes)
    rows: list[dict[str, Cell]] = []
    for line in single.tolist():
        context.check()
        values = persons.codes[line]
        mass = copula.mass(values, context.generator)
        cells = [
            f"{name} = {view.vocabularies[name].texts[code]}"
            for name, code in zip(persons.columns, values.tolist(), strict=True)
        ]
        rows.append(
            {
                "row": ", ".join(cells),
                "unique in the population": individual_uniqueness(mass, size),
                "a match is right": match_correctness(mass, size),
            }
        )
    return Details(
        title="How likely single rows are unique in the population",
        rows=tuple(rows),
        x="row",
        y=("unique in the population", "a match is right"),
        drawn="table",
        note=f"Of the first {_SINGLES} rows that are a class of their own: (1 − p)^(N − 1), and "
        "the chance that a match is right, where p is the mass of the row's cells under a Gaussian "
        "copula of the published columns (Rocher et al. 2019). Texts are taken in the order of "
        "their hierarchy.",
    )


#: Sampling share up to which Pitman's model is taken (Dankar et al. 2012).
SMALL_SHARE = 0.1
#: Rows like an earlier one that an estimate needs; see `tells_enough`.
LEAST_REPEATS = 16
_DIRECT = 20_000  # classes up to which logarithms are added one by one


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassSizes:
    """How many classes of a sample have how many rows, and the population's size.

    Attributes
    ----------
    size : int64 array of shape (kinds,)
        Distinct sizes, ascending.
    classes : int64 array of shape (kinds,)
        Classes of each size, f_i.
    population : int
        N, at least the rows of the sample.
    """

    size: I64
    classes: I64
    population: int

    @property
    def rows(self) -> int:
        """Rows of the sample, n."""
        return int(self.size @ self.classes)

    @property
    def number(self) -> int:
        """Classes of the sample, u."""
        return int(self.classes.sum())

    def of(self, size: int) -> int:
        """Return the classes of one size."""
        return int(self.classes[self.size == size].sum())

    @property
    def repeats(self) -> int:
        """Rows that are like an earlier row of the sample, n − u."""
        return self.rows - self.number

    @property
    def share(self) -> float:
        """Sampling share, f = n / N."""
        return self.rows / self.population


def class_sizes(sizes: I64, population: int) -> ClassSizes:
    """Count classes by their size; sizes of 0 are left out."""
    size, classes = np.unique(sizes[sizes > 0], return_counts=True)
    return ClassSizes(
        size=size.astype(np.int64), classes=classes.astype(np.int64), population=population
    )


@dataclass(frozen=True, kw_only=True)
class PitmanModel:
    """Pitman's sampling formula, fitted: θ > −α, 0 ≤ α < 1; Ewens' formula where α is 0."""

    theta: float
    alpha: float

    def uniques(self, people: int) -> float:
        """Return the expected number of classes of one among so many people, exactly.

        Examples
        --------
        >>> round(PitmanModel(theta=3, alpha=0.4).uniques(12), 7)
        4.9151073
        """
        theta, alpha = self.theta, self.alpha
        log = (
            math.lgamma(theta + alpha + people - 1)
            + math.lgamma(theta + 1)
            - math.lgamma(theta + alpha)
            - math.lgamma(theta + people)
        )
        return people * math.exp(log)


def fit_pitman(sample: ClassSizes) -> PitmanModel | None:
    """Return Pitman's model at its greatest likelihood, or None where it grows without end.

    Hoshino 2001, Applying Pitman's sampling formula to microdata disclosure risk assessment,
    Journal of Official Statistics 17(4). The greatest likelihood may lie at the border α = 0, which
    is Ewens' formula.
    """
    from scipy.optimize import minimize

    if sample.number < 2 or sample.number == sample.rows:
        return None  # one class, or nothing but uniques: the likelihood grows without end

    def cost(at: F64) -> float:
        alpha = 1 / (1 + math.exp(-float(at[1])))
        return -_pitman_likelihood(sample, math.exp(float(at[0])) - alpha, alpha)

    found = minimize(
        cost,
        np.array([math.log(max(sample.number / math.log(sample.rows + 1), 1.0)), 0.0]),
        method="Nelder-Mead",
        bounds=[(-30, 30), (-20, 20)],
        options={"xatol": 1e-8, "fatol": 1e-9, "maxiter": 2000},
    )
    alpha = 1 / (1 + math.exp(-float(found.x[1])))
    if not found.success or alpha > 1 - 1e-6 or abs(float(found.x[0])) > 25:
        return None
    alpha = alpha if alpha > 1e-6 else 0.0
    return PitmanModel(theta=math.exp(float(found.x[0])) - alpha, alpha=alpha)


def _pitman_likelihood(sample: ClassSizes, theta: float, alpha: float) -> float:
    from scipy.special import gammaln

    u, n = sample.number, sample.rows
    if u <= _DIRECT or alpha < 1e-3:
        classes = float(np.log(theta + alpha * np.arange(1, u)).sum())
    else:
        classes = (u - 1) * math.log(alpha)
        classes += math.lgamma(theta / alpha + u) - math.lgamma(theta / alpha + 1)
    rows = math.lgamma(theta + n) - math.lgamma(theta + 1)
    inside = gammaln(sample.size - alpha) - math.lgamma(1 - alpha)
    return classes - rows + float(sample.classes @ inside)


def pitman(sample: ClassSizes) -> float | None:
    """Return the population's uniques by Pitman's model, or None where it cannot be fitted."""
    model = fit_pitman(sample)
    return None if model is None else model.uniques(sample.population)


def zayatz_share(sample: ClassSizes) -> float:
    """Return the share of the sample's uniques who are unique in the population.

    P = f_1 H(1) / Σ f_i H(i), H(i) = i·C(N−i, n−1) / C(N, n): the chance that one of a class of i
    people is the only one in the sample. Zayatz 1991, Estimation of the number of unique population
    elements using a sample, Proceedings of the Survey Research Methods Section, ASA; biased where
    the sampling share is small.
    """
    from scipy.special import gammaln

    n, people = sample.rows, sample.population
    if not sample.of(1):
        return 0.0
    size = sample.size.astype(np.float64)
    possible = people - size >= n - 1
    size, classes = size[possible], sample.classes[possible].astype(np.float64)
    log = np.log(size) + gammaln(people - size + 1) - gammaln(people - size - n + 2)
    weight = classes * np.exp(log - log[0])  # the first size is 1
    return float(weight[0] / weight.sum())


def zayatz(sample: ClassSizes) -> float | None:
    """Return the population's uniques by Zayatz's estimator, f_1 P / f."""
    return sample.of(1) * zayatz_share(sample) / sample.share


@dataclass(frozen=True, kw_only=True)
class SlideNegativeBinomial:
    """Class sizes F of a population with F − 1 negative binomial: a > 0, 0 < b < 1; K classes."""

    a: float
    b: float
    classes: float

    @property
    def uniques(self) -> float:
        """Expected classes of one, K·b^a."""
        return self.classes * self.b**self.a

    def seen(self, share: float) -> tuple[float, float]:
        """Return the chances that a class has one row, and two rows, in a sample of some share.

        Examples
        --------
        >>> model = SlideNegativeBinomial(a=0.7, b=0.3, classes=1)
        >>> [round(chance, 8) for chance in model.seen(0.2)]
        [0.28924686, 0.07092743]
        """
        a, b, f = self.a, self.b, share
        d, rest = (1 - f) * (1 - b), f + b - f * b  # rest is 1 − d, and its powers may be 0
        one = f * (b / rest) ** a * (a * d / rest + 1)
        two = a * (b / rest) ** a * (f / rest) ** 2 * (1 - b) * (2 - (1 - a) * d) / 2
        return one, two


def population_classes(sample: ClassSizes) -> float | None:
    """Return the population's classes by Shlosser's estimator as it was modified.

    K = u + f_1·[Σ i f²(1−f²)^(i−1) f_i / Σ (1−f)^i((1+f)^i − 1) f_i]·
    [Σ (1−f)^i f_i / Σ i f (1−f)^(i−1) f_i]². Haas and Stokes 1998,
    doi 10.1080/01621459.1998.10473807.
    """
    f = sample.share
    if f >= 1:
        return float(sample.number)
    i, of = sample.size.astype(np.float64), sample.classes.astype(np.float64)
    first = float(of @ (i * f**2 * (1 - f**2) ** (i - 1)))
    both = float(of @ ((1 - f**2) ** i - (1 - f) ** i))
    none = float(of @ (1 - f) ** i)
    once = float(of @ (i * f * (1 - f) ** (i - 1)))
    if both <= 0 or once <= 0:
        return None
    return sample.number + sample.of(1) * (first / both) * (none / once) ** 2


def fit_slide(sample: ClassSizes) -> SlideNegativeBinomial | None:
    """Return the slide negative binomial model with the sample's classes of one and of two rows.

    Chen and Keller-McNulty 1998, Estimation of identification disclosure risk in microdata, Journal
    of Official Statistics 14(1). None where no model gives both numbers.
    """
    from scipy.optimize import least_squares

    classes, one, two = population_classes(sample), sample.of(1), sample.of(2)
    if classes is None or not one or not two or sample.share >= 1:
        return None

    def model(at: F64) -> SlideNegativeBinomial:
        a, b = math.exp(float(at[0])), 1 / (1 + math.exp(-float(at[1])))
        return SlideNegativeBinomial(a=a, b=b, classes=classes)

    def off(at: F64) -> F64:
        seen = model(at).seen(sample.share)
        return np.array(
            [math.log(max(classes * s, 1e-300) / w) for s, w in zip(seen, (one, two), strict=True)]
        )

    for start in ((-2.0, -3.0), (0.0, -1.0), (-1.0, 1.0), (1.0, 0.0), (-4.0, -6.0)):
        found = least_squares(off, start, bounds=([-15, -20], [10, 20]), xtol=1e-14, ftol=1e-14)
        if float(np.abs(found.fun).max()) < 1e-7:
            return model(found.x)
    return None


def slide(sample: ClassSizes) -> float | None:
    """Return the population's uniques by the slide negative binomial model."""
    found = fit_slide(sample)
    return None if found is None else found.uniques


Estimator = Callable[[ClassSizes], "float | None"]
#: The estimators, by the names they go by.
ESTIMATORS: dict[str, Estimator] = {"Pitman": pitman, "Zayatz": zayatz, "SNB": slide}


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """The population's uniques by one estimator: indicative, since no model is known to be right.

    Attributes
    ----------
    uniques : float or None
        None where the estimator has no answer.
    chosen : bool
        Whether the rule takes this one.
    """

    name: str
    uniques: float | None
    chosen: bool = False


def chosen_by_rule(share: float, uniques: dict[str, float | None]) -> str:
    """Return which estimate is taken (Dankar et al. 2012, doi 10.1186/1472-6947-12-66).

    Up to a sampling share of 0.1 Pitman's, or Zayatz's where there is none; else the smaller of
    SNB's and Zayatz's.

    Examples
    --------
    >>> chosen_by_rule(0.05, {"Pitman": 9.0, "Zayatz": 3.0, "SNB": 5.0})
    'Pitman'
    >>> chosen_by_rule(0.5, {"Pitman": 9.0, "Zayatz": 6.0, "SNB": 5.0})
    'SNB'
    """
    first, second, third = ESTIMATORS
    if share <= SMALL_SHARE:
        return first if uniques[first] is not None else second
    slid, counted = uniques[third], uniques[second]
    return third if slid is not None and counted is not None and slid < counted else second


def estimates(sample: ClassSizes) -> tuple[Estimate, ...]:
    """Return what every estimator says, and which of them the rule takes.

    Raises
    ------
    ValueError
        If the sample is too small to tell anything; ask `tells_enough` first.
    """
    if not tells_enough(sample):
        raise ValueError(
            f"{sample.repeats} rows are like an earlier one; {LEAST_REPEATS} are needed"
        )
    found = {name: estimator(sample) for name, estimator in ESTIMATORS.items()}
    taken = chosen_by_rule(sample.share, found)
    return tuple(
        Estimate(name=name, uniques=uniques, chosen=name == taken)
        for name, uniques in found.items()
    )


def tells_enough(sample: ClassSizes) -> bool:
    """Say whether enough rows are like another one to tell how many people of the population are.

    What shows that a population repeats itself are the M = n − u rows that are like an earlier row
    of the sample. They come about as n²/2K, with K classes of equal size, and vary by √M: an
    estimate of K is within a half of the truth 95 times of 100 only where 1.96/√M ≤ 1/2, or M ≥ 16.
    Of 683 samples of seven kinds of populations the estimate was off by 37 of 100 people on average
    where M was below 4, by 12 where it was 4 to 15, by 7 up to 31, and by 2 from 128 on.
    """
    return sample.repeats >= LEAST_REPEATS


# How likely a person is unique in a population, by a Gaussian copula over the columns.
#
# Rocher, Hendrickx and de Montjoye 2019, doi 10.1038/s41467-019-10933-3.


_POINTS = 20_000  # at which the mass of a box of many columns is looked at


def individual_uniqueness(mass: float, people: int) -> float:
    """Return the chance that no one else of a population is as someone is, (1 − p)^(N − 1).

    Parameters
    ----------
    mass : float
        p, chance that one person is so.
    people : int
        N.

    Examples
    --------
    >>> round(individual_uniqueness(0.003, 500), 7)
    0.2232976
    """
    return (1 - mass) ** (people - 1)


def match_correctness(mass: float, people: int) -> float:
    """Return the chance that a match is right, (1 − (1 − p)^N) / (N p); 1 where p is 0.

    Examples
    --------
    >>> round(match_correctness(0.003, 500), 7)
    0.5182482
    """
    return (1 - (1 - mass) ** people) / (people * mass) if mass > 0 else 1.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Copula:
    """A Gaussian copula over coded columns.

    Attributes
    ----------
    below : tuple of float64 arrays of shape (values + 1,)
        Of each column, the share of people with a lower value; 0 first and 1 last.
    correlation : float64 array of shape (columns, columns)
        Of the normal scores.
    """

    below: tuple[F64, ...]
    correlation: F64

    def mass(self, values: I32, generator: np.random.Generator) -> float:
        """Return the chance of one value of each column, shape (columns,)."""
        from scipy.stats import multivariate_normal, norm

        low = [norm.ppf(b[v]) for b, v in zip(self.below, values, strict=True)]
        high = [norm.ppf(b[v + 1]) for b, v in zip(self.below, values, strict=True)]
        free = [d for d in range(len(low)) if np.isfinite(low[d]) or np.isfinite(high[d])]
        if not free:
            return 1.0
        cov = self.correlation[np.ix_(free, free)]
        found = multivariate_normal.cdf(
            np.array(high)[free],
            cov=cov,
            lower_limit=np.array(low)[free],
            allow_singular=True,
            maxpts=_POINTS,
            rng=generator,
        )
        return float(min(max(found, 0.0), 1.0))


def fitted(codes: I32, count: I64) -> Copula:
    """Fit a copula: the columns' shares, and the correlation of their normal scores.

    Parameters
    ----------
    codes : int32 array of shape (lines, columns)
        Values as ascending numbers.
    count : int64 array of shape (lines,)
        Rows of each line, at least one in all.
    """
    from scipy.stats import norm

    below: list[F64] = []
    scores = np.empty(codes.shape)
    for d in range(codes.shape[1]):
        rows = np.bincount(codes[:, d], count)
        until = np.concatenate([[0.0], np.cumsum(rows) / rows.sum()])
        until[-1] = 1.0
        below.append(until)
        middle = (until[codes[:, d]] + until[codes[:, d] + 1]) / 2
        scores[:, d] = norm.ppf(middle)
    centred = scores - (scores * count[:, None]).sum(0) / count.sum()
    spread = np.sqrt((centred**2 * count[:, None]).sum(0))
    spread[spread == 0] = 1.0
    centred = centred / spread
    own = np.einsum("ia,ib,i->ab", centred, centred, count.astype(np.float64))
    np.fill_diagonal(own, 1.0)
    return Copula(below=tuple(below), correlation=own)
