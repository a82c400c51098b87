"""Made-up trips of 15 drivers: few people, many events.

The combinations of engine, body and seats, and how many vehicles have each, are those of table 4.5 of Singer,
"Enhancing Privacy in Car Data" (University of Stuttgart 2023); the trips are fewer, in the same proportions. A trip has one destination, so the places a driver visits are a set
that is spread over his trips: his home, which nobody else visits, his work, and places that many share.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

FLEET = (
    # engine, body, seats, vehicles, trips
    ("EV", "Sedan", 2, 4, 406),
    ("EV", "SUV", 4, 1, 12),
    ("EV", "SUV", 5, 2, 166),
    ("EV", "SUV", 7, 1, 26),
    ("Gas", "Sedan", 2, 2, 165),
    ("Gas", "Long Sedan", 2, 2, 140),
    ("Gas", "Long Sedan", 4, 1, 147),
    ("Gas", "Long Sedan", 5, 1, 36),
    ("Hybrid", "Long Sedan", 5, 1, 14),
)
USE = {"EV": 0.38, "Gas": 0.47, "Hybrid": 0.39}
"""Share of trips on which the touchscreen is used."""
CONSUMPTION = {"EV": 18.0, "Gas": 8.5, "Hybrid": 5.0}
"""Per 100 km: kilowatt-hours for electric cars, litres for the others."""
WORKPLACES = ("harbour", "hospital", "university", "works")
SHARED = ("airport", "market", "park", "school", "stadium", "station", "town hall")
ARTISTS = ("Radio", *(f"artist {number:02d}" for number in range(1, 31)))


def trips(seed: int = 1) -> pa.Table:
    """One row per trip: driver, trip, engine, body, seats, km, consumption, touchscreen (0 or 1), place, artist."""
    rng = np.random.default_rng(seed)
    rows: dict[str, list[object]] = {
        name: []
        for name in (
            *("driver", "trip", "engine", "body", "seats"),
            *("km", "consumption", "touchscreen", "place", "artist"),
        )
    }
    driver = 0
    for engine, body, seats, vehicles, total in FLEET:
        for part in np.array_split(np.arange(total), vehicles):
            driver += 1
            work = WORKPLACES[driver % len(WORKPLACES)]
            places = rng.choice(
                (f"home {driver:02d}", work, *SHARED), len(part), p=[0.3, 0.3, *[0.4 / 7] * 7]
            )
            favourites = rng.choice(ARTISTS[1:], 4, replace=False)
            heard = rng.choice((ARTISTS[0], *favourites), len(part), p=[0.4, 0.3, 0.15, 0.1, 0.05])
            distance = np.round(rng.lognormal(2.3, 0.8, len(part)), 1)
            usage = np.round(CONSUMPTION[engine] * rng.normal(1.0, 0.12, len(part)), 1)
            touched = rng.random(len(part)) < USE[engine]
            rows["driver"] += [driver] * len(part)
            rows["trip"] += range(len(rows["trip"]), len(rows["trip"]) + len(part))
            rows["engine"] += [engine] * len(part)
            rows["body"] += [body] * len(part)
            rows["seats"] += [seats] * len(part)
            rows["km"] += distance.tolist()
            rows["consumption"] += usage.tolist()
            rows["touchscreen"] += touched.astype(int).tolist()
            rows["place"] += places.tolist()
            rows["artist"] += heard.tolist()
    return pa.table(rows)
