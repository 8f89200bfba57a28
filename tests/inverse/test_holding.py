"""Bodies that only contact holds: exact where the contacts stay closed, plain where nothing needs to be held."""

import numpy as np
import pytest
from harness import golden_beam, relative

import pliant as pl
from pliant.inverse.condense import condense
from pliant.solve.commands import linearise

MODEL = pl.FemModel(golden_beam())
PAD = pl.Plane((0, 0, -0.012), (0, 0, 1), friction=0.4)
GOAL = [pl.PointTarget("tip", (0.09, 0, 0))]


@pytest.fixture(scope="module")
def pressed():
    return pl.equilibrium(MODEL, [5e-3, 1e-2, 1.5e-2], obstacles=[PAD], strict=True)


def _condensed(state, K, force, **options):
    return condense(
        MODEL, state.q, state.effort, force, K, GOAL, [], contacts=state.contacts, frictional=True, **options
    )


def _unstable(K):
    """The stiffness with just enough taken off its diagonal that one motion is unstable, and that matrix, dense."""
    dense = K.toarray()
    lowest = np.linalg.eigvalsh(dense)[:2]
    K = K.add_diagonal(np.full(len(dense), -lowest.mean()))
    assert (np.linalg.eigvalsh(K.toarray()) < 0).sum() == 1
    return K, K.toarray()


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("guess", [False, True])
def test_closed_contacts_give_the_step_of_the_indefinite_system(pressed, guess, dense):
    force, K = linearise(MODEL, pressed.q, pressed.effort)
    K, full = _unstable(K)
    got = _condensed(pressed, full if dense else K, force, holding=guess)
    assert got.stable
    assert got.holding
    closed = np.repeat(pressed.contacts.forces > 0, 3)
    assert closed.any()
    e = 1.1 * pressed.effort
    # the condensed problem with the pressing contacts closed
    c = got.contact
    lam = np.zeros(len(closed))
    block = c.contact[np.ix_(closed, closed)]
    assert np.linalg.eigvalsh(0.5 * (block + block.T)).min() > 0.0
    lam[closed] = np.linalg.solve(block, -(c.free + c.effort @ e)[closed])
    # the saddle-point system of the indefinite matrix
    A = MODEL.actuation(pressed.q, pressed.effort)
    H = pressed.contacts.frictional_rows(MODEL, pressed.q).toarray()[closed]
    slip = pressed.contacts.slip(MODEL.skin_positions(pressed.q))
    value = np.column_stack([pressed.contacts.gap, slip]).ravel()[closed]
    m, n = H.shape
    right = np.concatenate([force + A @ (e - pressed.effort), -value])
    found = np.linalg.solve(np.block([[full, -H.T], [H, np.zeros((m, m))]]), right)
    assert relative(got.step(e, lam), found[:n]) < 1e-7
    assert relative(got.true_contact(e, lam)[closed], found[n:]) < 1e-6
    stroke = MODEL.displacement(pressed.q) + A.T @ found[:n]
    assert relative(got.displacement.value(e, lam), stroke) < 1e-8
    # Newton corrections are those of the matrix that the contacts hold
    rho = got.compliance.rho
    stiff = full + rho * H.T @ H
    assert np.linalg.eigvalsh(stiff).min() > 0.0
    assert relative(got.correction(force, np.zeros(0)), np.linalg.solve(stiff, force)) < 1e-7


def test_a_wrong_guess_changes_nothing(pressed):
    force, K = linearise(MODEL, pressed.q, pressed.effort)
    plain, guessed = (_condensed(pressed, K, force, holding=guess) for guess in (False, True))
    assert plain.stable
    assert guessed.stable
    assert not guessed.holding
    for name in ("objective", "displacement", "contact"):
        for part in ("free", "effort", "contact"):
            assert relative(getattr(getattr(guessed, name), part), getattr(getattr(plain, name), part)) < 1e-7
    z = pressed.effort, np.linspace(0.0, 1.0, len(plain.contact.free))
    assert relative(guessed.step(*z), plain.step(*z)) < 1e-7
    assert np.array_equal(guessed.true_contact(*z), z[1])


def test_what_contacts_cannot_hold_is_shifted_and_called_unstable(pressed):
    force, K = linearise(MODEL, pressed.q, pressed.effort)
    dense = K.toarray()
    K = K.add_diagonal(np.full(len(dense), -np.linalg.eigvalsh(dense)[40]))
    for guess in (False, True):
        got = _condensed(pressed, K, force, holding=guess)
        assert not got.stable
        assert not got.holding
        assert np.linalg.eigvalsh(got.contact.contact).min() > -1e-12 * np.abs(got.contact.contact).max()
