"""Project latitude and longitude onto a flat map in kilometers, so that distances and rho are true to scale."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from dpviz import validate

__all__ = ["EARTH_RADIUS", "Equirectangular", "as_map", "degrees_of"]

EARTH_RADIUS = 6371.0088  # the earth's mean radius in kilometers, as the IUGG defines it


@dataclasses.dataclass(frozen=True)
class Equirectangular:
    """Projection onto the plane that touches the earth at a public point.

    Within 25 km of a point at latitude 50°, distances are off by less than .5%.

    Attributes
    ----------
    latitude, longitude : names of the file's columns, degrees
    east, north : names of the resulting columns, kilometers
    at : (latitude, longitude) of the point that becomes (0, 0), degrees; public, never taken from the rows
    """

    latitude: str
    longitude: str
    east: str
    north: str
    at: tuple[float, float]

    @classmethod
    def parse(cls, facts: Any, name: str) -> Self:
        """Check the entry 'projection' of a data dictionary; messages call the dictionary `name`.

        Raises
        ------
        ValueError
            If an entry is wrong; the message names it.
        """
        fields = {field.name for field in dataclasses.fields(cls)}
        if not isinstance(facts, Mapping) or set(facts) != {"kind", *fields} or facts["kind"] != "equirectangular":
            raise ValueError(
                f"{name}: 'projection' must have kind 'equirectangular' and the entries {', '.join(sorted(fields))}."
            )
        if not all(isinstance(facts[key], str) and facts[key] for key in fields - {"at"}):
            raise ValueError(f"{name}: 'projection' must name its columns with text.")
        at = facts["at"]
        if not isinstance(at, list | tuple) or len(at) != 2:
            raise ValueError(f"{name}: 'projection' needs 'at', a latitude and a longitude in degrees.")
        validate.in_range(f"{name}: 'projection'", -80, 80, at_latitude=at[0])
        validate.in_range(f"{name}: 'projection'", -180, 180, at_longitude=at[1])
        return cls(**{key: facts[key] for key in fields - {"at"}}, at=(float(at[0]), float(at[1])))

    def forward(self, latitude: np.ndarray, longitude: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (east, north) in kilometers of points in degrees; each point is projected on its own."""
        north = EARTH_RADIUS * np.radians(latitude - self.at[0])
        east = EARTH_RADIUS * np.cos(np.radians(self.at[0])) * np.radians(longitude - self.at[1])
        return east, north

    def backward(self, east: np.ndarray, north: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the coordinates (latitude, longitude) in degrees of points given in kilometers."""
        latitude = self.at[0] + np.degrees(north / EARTH_RADIUS)
        longitude = self.at[1] + np.degrees(east / (EARTH_RADIUS * np.cos(np.radians(self.at[0]))))
        return latitude, longitude


_LATITUDE, _LONGITUDE = ("latitude", "lat"), ("longitude", "lon", "lng", "long")


def as_map(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return declared facts with latitude and longitude turned into a map in kilometers; other facts stay unchanged.

    The map touches the earth in the middle of the declared bounds. Its columns, east and north, come first and are
    drawn first; if there are other columns, both get the same bounds, so that a kilometer to the east counts as much as
    one to the north.
    """
    names = {str(column["name"]).strip().lower(): column for column in facts["columns"]}
    lat, lon = (next((names[word] for word in words if word in names), None) for words in (_LATITUDE, _LONGITUDE))
    if lat is None or lon is None or {"east", "north"} & {column["name"] for column in facts["columns"]}:
        return dict(facts)
    bounds = [one[end] for one in (lat, lon) for end in ("low", "high")]
    if not all(map(validate.is_finite, bounds)) or not -90 <= bounds[0] < bounds[1] <= 90 or bounds[2] >= bounds[3]:
        return dict(facts)
    at = [(bounds[0] + bounds[1]) / 2, (bounds[2] + bounds[3]) / 2]
    named = {"latitude": lat["name"], "longitude": lon["name"], "east": "east", "north": "north", "at": at}
    if not (abs(at[0]) <= 80 and abs(at[1]) <= 180):
        return dict(facts)
    projection = Equirectangular.parse({"kind": "equirectangular", **named}, "Declaration")
    others = [column for column in facts["columns"] if column is not lat and column is not lon]
    half = [float(side) for side in projection.forward(np.asarray(bounds[1]), np.asarray(bounds[3]))]
    half = [max(half)] * 2 if others else half
    weight = lat.get("weight", 1.0)
    if lat.get("log") or lon.get("log") or lon.get("weight", 1.0) != weight:
        raise ValueError(
            "Declaration: latitude and longitude become one map: give both the same weight and no logarithm."
        )
    known = lat.get("fill") is not None and lon.get("fill") is not None
    fill = projection.forward(lat["fill"], lon["fill"]) if known else (None, None)
    columns = [
        {
            "name": name,
            "unit": "km",
            "low": -side,
            "high": side,
            "fill": None if stand is None else float(stand),
            "weight": weight,
        }
        for name, side, stand in zip(("east", "north"), half, fill, strict=True)
    ]
    return {
        **facts,
        "columns": [*columns, *others],
        "projection": {"kind": "equirectangular", **named},
        "scale": facts.get("scale", "column") if others else "common",
        "view": ["east", "north"],
    }


def degrees_of(facts: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Return the bounds, in degrees, of the latitude and the longitude from which a map was made, by column name."""
    flat = Equirectangular.parse(facts["projection"], "Declaration")
    bounds = {column["name"]: (column["low"], column["high"]) for column in facts["columns"]}
    latitude, longitude = flat.backward(np.array(bounds[flat.east]), np.array(bounds[flat.north]))
    return {
        flat.latitude: (max(float(latitude[0]), -90.0), min(float(latitude[1]), 90.0)),
        flat.longitude: (float(longitude[0]), float(longitude[1])),
    }
