"""Sparse rows without checks are the rows that scipy would have made."""

import numpy as np
import scipy.sparse as sp

from pliant.algebra.trusted import trusted_csr


def test_same_as_scipy_with_unsorted_and_repeated_columns():
    data = np.array([1.0, 2.0, 3.0, 4.0])
    indices = np.array([3, 1, 2, 2], dtype=np.int32)
    indptr = np.array([0, 2, 2, 4], dtype=np.int32)
    ours = trusted_csr(data, indices, indptr, (3, 5))
    theirs = sp.csr_matrix((data, indices, indptr), shape=(3, 5))
    assert ours.shape == theirs.shape and ours.nnz == theirs.nnz and ours.format == "csr"
    assert np.array_equal(ours.toarray(), theirs.toarray())
    assert np.array_equal((ours.T @ np.arange(3.0)), (theirs.T @ np.arange(3.0)))
    assert ours.has_sorted_indices == theirs.has_sorted_indices


def test_one_of_a_shape_does_not_touch_another():
    ends, columns = np.array([0, 1, 1], dtype=np.int32), np.array([1], dtype=np.int32)
    first = trusted_csr(np.ones(1), columns, ends, (2, 3))
    first.sum_duplicates()
    assert first.has_canonical_format
    second = trusted_csr(np.ones(2), np.array([2, 2], dtype=np.int32), np.array([0, 2, 2], dtype=np.int32), (2, 3))
    assert not second.has_canonical_format
    assert first[0, 1] == 1.0 and second.toarray()[0, 2] == 2.0
