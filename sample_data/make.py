"""Write every sample: NAME.csv and its data dictionary NAME.json. Run this from the repository root.

The result is always the same. Bounds are public facts chosen by meaning (a map's edge, a measuring scale), never the
smallest and largest value.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits, load_iris, load_wine

HERE = Path(__file__).parent
CC0 = "CC0 1.0"
UCI = "CC BY 4.0, UCI Machine Learning Repository, as bundled with scikit-learn"
MADE = "made by sample_data/make.py"


def column(name: str, low: float, high: float, unit: str = "", description: str = "") -> dict[str, object]:
    return {"name": name, "unit": unit, "low": low, "high": high, "description": description or name}


def write(
    name: str,
    title: str,
    description: str,
    X: np.ndarray,
    columns: list[dict[str, object]],
    n_clusters: int,
    *,
    labels: np.ndarray | None = None,
    decimals: int = 3,
    scale: str = "common",
    radius: float | None = None,
    unit: str = "one row is one made-up person",
    origin: str = MADE,
    licence: str = CC0,
    projection: dict[str, object] | None = None,
    view: tuple[str, str] | None = None,
    picture: tuple[int, int] | None = None,
) -> None:
    names = [projection["latitude"], projection["longitude"]] if projection else [c["name"] for c in columns]
    table = pd.DataFrame(np.round(X, decimals), columns=names)
    if decimals == 0:
        table = table.astype(int)
    if labels is not None:
        table["label"] = labels
    table.to_csv(HERE / f"{name}.csv", index=False)
    dictionary = {
        "title": title,
        "description": description,
        "columns": columns,
        "label": None if labels is None else "label",
        "n_clusters": n_clusters,
        "scale": scale,
        "radius": radius,
        "n_public": len(X),
        "unit_of_privacy": unit,
        "rows_per_person": 1,
        "origin": origin,
        "licence": licence,
    }
    if view is not None:
        dictionary["view"] = view
    if picture is not None:
        dictionary["picture"] = picture
    if projection is not None:
        dictionary["projection"] = projection
    (HERE / f"{name}.json").write_text(json.dumps(dictionary, indent=1) + "\n")


def mixture(
    rng: np.random.Generator, centers: np.ndarray, sizes: list[int], spreads: list[float]
) -> tuple[np.ndarray, np.ndarray]:
    centers = np.asarray(centers, dtype=float)
    parts = [
        center + rng.normal(0, spread, (size, centers.shape[1]))
        for center, size, spread in zip(centers, sizes, spreads, strict=True)
    ]
    X, labels = np.concatenate(parts), np.repeat(np.arange(len(sizes)), sizes)
    order = rng.permutation(len(X))
    return X[order], labels[order]


def made_up() -> None:
    rng = np.random.default_rng(2026)
    town = [
        column("east", -12, 12, "km", "east of the town hall"),
        column("north", -9, 9, "km", "north of the town hall"),
    ]
    X, labels = mixture(
        rng,
        [[-5.2, 3.5], [5.0, 4.2], [0.4, 1.2], [-1.2, -4.3], [5.6, -2.9]],
        [1200, 1300, 500, 1300, 700],
        [1.1, 1.4, 0.55, 1.35, 0.8],
    )
    write(
        "town",
        "Town, 5,000 made-up people",
        "Five neighborhoods of different sizes on a town map.",
        X,
        town,
        5,
        labels=labels,
    )

    square = [column("x", -10, 10), column("y", -10, 10)]
    grid = [[x, y] for x in (-7, 0, 7) for y in (-7, -2.3, 2.3, 7)]
    X, labels = mixture(rng, grid, [250] * 12, [0.55] * 12)
    write(
        "blobs",
        "Separated blobs",
        "Twelve round groups with room between them: the easy case.",
        X,
        square,
        12,
        labels=labels,
    )

    X, labels = mixture(rng, [[-3, -2], [3, -2], [0, 3], [0, 0]], [900] * 4, [1.8] * 4)
    write("overlap", "Overlapping blobs", "Four groups that overlap.", X, square, 4, labels=labels)

    X, labels = mixture(rng, [[-5, 0], [5, 4], [5, -6]], [4000, 900, 60], [1.6, 1.1, 0.5])
    write(
        "minority",
        "A small minority",
        "A group of 60 people next to groups of 900 and 4,000: whose center does the noise hide?",
        X,
        square,
        3,
        labels=labels,
    )

    angle = rng.uniform(0, 2 * np.pi, 1500)
    ring = 7 * np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(0, 0.4, (1500, 2))
    X = np.concatenate([ring, rng.normal(0, 0.8, (700, 2)), [[9.8, 9.8]]])
    labels = np.repeat([0, 1, 2], [1500, 700, 1])
    write(
        "ring",
        "Ring and outlier",
        "A ring, a core and one person far away: k-means itself is wrong here.",
        X,
        square,
        2,
        labels=labels,
    )

    turn, own = np.linspace(0, np.pi, 1200), np.random.default_rng(7)
    upper = np.column_stack([np.cos(turn), np.sin(turn)])
    X = np.concatenate([upper, [1, 0.5] - upper]) * 4 - [2, 1] + own.normal(0, 0.28, (2400, 2))
    write(
        "moons",
        "Two moons",
        "Two interlocking crescents: no two centers can separate them.",
        X,
        [column("x", -8, 8), column("y", -5, 5)],
        2,
        labels=np.repeat([0, 1], 1200),
    )

    centers = rng.uniform(-6, 6, (8, 20))
    X, labels = mixture(rng, centers, [300] * 8, [1.0] * 8)
    many = [column(f"x{i + 1}", -10, 10) for i in range(20)]
    write(
        "highdim",
        "Twenty columns",
        "Eight groups in 20 dimensions, where noise has more room.",
        X,
        many,
        8,
        labels=labels,
        decimals=2,
    )

    X, labels = mixture(rng, [[-4, 0], [4, 0]], [25, 15], [1.0, 1.0])
    write(
        "tiny",
        "Forty people",
        "Too few rows to hide in: differential privacy fails here, and should.",
        X,
        square,
        2,
        labels=labels,
    )


def bundled() -> None:
    data = load_iris()
    bounds = [("sepal length", 0, 10), ("sepal width", 0, 6), ("petal length", 0, 10), ("petal width", 0, 4)]
    write(
        "iris",
        "Iris",
        "150 flowers of three species: a small classic.",
        data.data,
        [column(name, low, high, "cm") for name, low, high in bounds],
        3,
        labels=data.target,
        decimals=1,
        unit="one row is one flower",
        origin="Fisher 1936",
        view=("petal length", "petal width"),
        licence=UCI,
    )
    data = load_wine()
    tops = [20, 10, 5, 40, 200, 6, 8, 1, 6, 20, 3, 6, 2000]
    write(
        "wine",
        "Wine",
        "178 wines with 13 chemical measurements each.",
        data.data,
        [column(name, 0, top) for name, top in zip(data.feature_names, tops, strict=True)],
        3,
        labels=data.target,
        scale="column",
        unit="one row is one wine",
        origin="Forina et al. 1991",
        view=("flavanoids", "proline"),
        licence=UCI,
    )
    data = load_digits()
    write(
        "digits",
        "Handwritten digits",
        "1,797 images of 8 x 8 pixels: 64 columns.",
        data.data,
        [column(f"pixel {i // 8},{i % 8}", 0, 16, "ink") for i in range(64)],
        10,
        labels=data.target,
        decimals=0,
        unit="one row is one image",
        origin="Alpaydin and Kaynak 1998",
        view=("pixel 4,2", "pixel 2,5"),
        picture=(8, 8),
        licence=UCI,
    )


def city() -> None:
    """Write check-ins by latitude and longitude: districts of different width, a main street, and people in between."""
    rng = np.random.default_rng(2023)
    at = (50.0, 10.0)
    districts = [  # east, north, width (all in km), share
        (0.2, 0.4, 0.45, 0.22),
        (-1.9, 1.6, 0.35, 0.12),
        (2.4, 1.9, 0.5, 0.12),
        (1.6, -2.2, 0.4, 0.12),
        (-2.6, -1.9, 0.6, 0.12),
        (-6.2, 3.4, 0.7, 0.09),
        (6.3, -4.6, 0.8, 0.08),
        (5.6, 6.4, 0.45, 0.06),
    ]
    n = 6000
    east, north, width, share = np.array(districts).T
    street, strewn = 0.04, 0.03
    kind = rng.choice(len(districts) + 2, n, p=[*share, street, strewn])
    place = np.minimum(kind, len(districts) - 1)
    X = np.column_stack([east[place], north[place]]) + rng.normal(0, width[place][:, None], (n, 2))
    along = rng.random((n, 1))
    on_street = np.array([-6.2, 3.4]) * (1 - along) + np.array([6.3, -4.6]) * along + rng.normal(0, 0.08, (n, 2))
    X = np.where((kind == len(districts))[:, None], on_street, X)
    X = np.where((kind == len(districts) + 1)[:, None], rng.uniform(-9.5, 9.5, (n, 2)), X)
    X = np.clip(X, -9.99, 9.99)
    kilometer = np.degrees(1 / 6371.0088)
    degrees = np.column_stack([at[0] + X[:, 1] * kilometer, at[1] + X[:, 0] * kilometer / np.cos(np.radians(at[0]))])
    write(
        "city",
        "City, 6,000 made-up check-ins",
        "Each person's latest check-in, with latitude and longitude projected to kilometers.",
        degrees,
        [
            column("east", -10, 10, "km", "east of the city center"),
            column("north", -10, 10, "km", "north of the city center"),
        ],
        8,
        labels=np.where(kind < len(districts), kind, -1),
        decimals=6,
        unit="one row is the latest check-in of one made-up person",
        projection={
            "kind": "equirectangular",
            "latitude": "latitude",
            "longitude": "longitude",
            "east": "east",
            "north": "north",
            "at": list(at),
        },
    )


if __name__ == "__main__":
    made_up()
    city()
    bundled()
