"""Provide good and bad clusterers in the style of other libraries for `--outside tests.outside.toy_clusterers:NAME`."""

import numpy as np


class Toy:
    """Draw k centers between the bounds, and never look at a row."""

    def __init__(self, n_clusters=8, *, epsilon=1.0, bounds=None, random_state=None, **others):
        self.n_clusters, self.epsilon, self.bounds, self.random_state = n_clusters, epsilon, bounds, random_state

    def fit(self, X, y=None):
        low, high = self.bounds
        assert (low < high).all() and 0.01 <= self.epsilon <= 100
        self.cluster_centers_ = np.random.default_rng(self.random_state).uniform(low, high, (self.n_clusters, len(low)))
        return self


class Plain:
    """Return the first k rows as centers, without noise, seed or bounds, and overwrite the rows."""

    def __init__(self, n_clusters):
        self.n_clusters = n_clusters

    def fit(self, X):
        self.cluster_centers_ = X[: self.n_clusters].tolist()
        X[:] = 0


class Raises(Toy):
    def fit(self, X, y=None):
        raise RuntimeError(f"no luck with {self.n_clusters}\nclusters.")


class Flat(Toy):
    def fit(self, X, y=None):
        self.cluster_centers_ = np.zeros(self.n_clusters)


class NotANumber(Toy):
    def fit(self, X, y=None):
        self.cluster_centers_ = np.full((self.n_clusters, X.shape[1]), np.nan)


class TooFew(Toy):
    def fit(self, X, y=None):
        self.cluster_centers_ = np.zeros((self.n_clusters - 1, X.shape[1]))


class Forgets(Toy):
    def fit(self, X, y=None):
        return self


class NoK:
    def __init__(self, eps=0.5):
        self.eps = eps

    def fit(self, X):
        return self


class Needs(Toy):
    def __init__(self, key, n_clusters=8):
        super().__init__(n_clusters)


class Endless(Toy):
    def fit(self, X, y=None):
        while True:
            pass


def function(n_clusters):
    return n_clusters
