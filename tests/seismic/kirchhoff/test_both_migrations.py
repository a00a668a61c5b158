"""Migration in time beside that in depth, both of the traces that the program itself has modelled in 2D."""

import numpy as np
from cli_support import survey as survey_file
from kirchhoff_support import peak
from scipy.signal import hilbert, resample
from survey_support import load, migrate, model, run_survey, write_difference

from fathometer.storage.traces.segy import GatherWriter, read_traces, scan

VELOCITY, BELOW, DEPTH, SPACING = 2000.0, 2200.0, 805.0, 10.0  # the reflector lies between two cells
NX, NZ, MIDDLE = 241, 101, 1200.0
FINER = 64
SURVEY = {
    "model": {"spacing": [SPACING, SPACING]},
    "wavelet": {"kind": "ricker", "peak_frequency": 15.0},
    "propagation": {"space_weights": "optimised", "dt": 0.001, "boundary": {"kind": "pml", "width": 30}},
}


def gathers(folder):
    """A shot over the reflector, without its direct wave, and the same shot on a line of places 20 m apart."""
    files = []
    for name, below in (("with", BELOW), ("without", VELOCITY)):
        vp = np.full((NX, NZ), VELOCITY, np.float32)
        vp[:, SPACING * np.arange(NZ) > DEPTH] = below
        np.save(folder / f"{name}.npy", vp)
        values = SURVEY | {
            "model": {"vp": f"{name}.npy", "spacing": [SPACING, SPACING]},
            "acquisition": {
                "sources": {"x": MIDDLE, "z": 20.0},
                "receivers": {"x": [0.0, 2 * MIDDLE, 20.0], "z": 20.0},
            },
            "propagation": SURVEY["propagation"] | {"duration": 1.3},
            "output": {"directory": name},
        }
        files.append(model(folder, values).files["shots"])
    write_difference(*files, folder / "shot.segy")
    table = scan(folder / "shot.segy")
    near = np.flatnonzero(np.abs(table.receiver[:, 0] - MIDDLE) <= 300)
    traces, places = read_traces(folder / "shot.segy", near), table.receiver[near]
    moves = np.arange(-1000.0, 1001.0, 20.0)
    with GatherWriter(folder / "line.segy", table.samples, table.interval, len(near) * len(moves)) as writer:
        for number, move in enumerate(moves):
            away = np.array([move, 0.0, 0.0])
            writer.write(len(near) * number, number + 1, table.source[0] + away, places + away, traces)


def event(trace, spacing):
    """Depth (m) of the largest value near the reflector, and the phase (degrees) where the envelope is largest."""
    fine = resample(np.concatenate([trace, trace[::-1]]), 2 * FINER * len(trace))[: FINER * len(trace)]
    near = np.flatnonzero(np.abs(spacing / FINER * np.arange(len(fine)) - DEPTH) < 80)
    analytic = hilbert(fine)[near]
    at = int(np.abs(analytic).argmax())
    return float(spacing / FINER * (near[0] + peak(fine[near])[0])), float(np.degrees(np.angle(analytic[at])))


def events(folder):
    """Depth and phase of the reflector, by migration in depth and in time."""
    gathers(folder)
    values = SURVEY | {"model": {"vp": "without.npy", "spacing": [SPACING, SPACING]}}
    migrate(folder, values | {"acquisition": {"gathers": "shot.segy"}, "output": {"directory": "rtm"}})
    keys = {
        "acquisition.gathers": "line.segy",
        "time_migration.velocity": VELOCITY,
        "time_migration.x": [MIDDLE - 20.0, MIDDLE + 20.0, SPACING],
        "time_migration.sources": "line",
        "time_migration.replacement_velocity": VELOCITY,
        "output.directory": "kirchhoff",
    }
    run_survey(survey_file(folder, keys), in_time=True)
    in_depth = load(folder / "rtm" / "image.rsf")[round(MIDDLE / SPACING)]
    in_time = load(folder / "kirchhoff" / "time" / "image.rsf")[2]
    return event(in_depth, SPACING), event(in_time, 0.5 * VELOCITY * scan(folder / "line.segy").interval)


def test_both_have_the_reflector_at_one_depth_with_one_phase(tmp_path):
    """Within half a millisecond of two-way time and 5 degrees, where the reflector is."""
    (depth, phase), (depth_in_time, phase_in_time) = events(tmp_path)
    assert abs(depth_in_time - depth) < 0.0005 * VELOCITY / 2
    assert abs(phase_in_time - phase) < 5
    assert abs(depth_in_time - DEPTH) < 1.0
    assert abs(phase_in_time) < 10
