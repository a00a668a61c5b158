"""Brings the reference of an input file's keys in Markdown pages up to date: python tools/reference.py PAGE…"""

import sys
from pathlib import Path

from fathometer.apps.atmosphere.atmosphere_file import AtmosphereFile
from fathometer.apps.farm.farm_file import FarmFile
from fathometer.apps.flow.flow_file import IncompressibleFile
from fathometer.apps.ocean.ocean_file import OceanFile
from fathometer.apps.plasma.plasma_file import PlasmaFile
from fathometer.apps.reactive.chemistry.keys import ChemistryFile
from fathometer.apps.reactive.flow_file import FlowFile
from fathometer.base.errors import FathometerError, InputError
from fathometer.config.reference import with_reference
from fathometer.lab.recipes.recipe import Recipe
from fathometer.lab.studies.study_file import Study
from fathometer.seismic.survey import Survey

MODELS = {  # by page
    "survey-file.md": Survey,
    "recipes.md": Recipe,
    "study-file.md": Study,
    "flow-file.md": FlowFile,
    "incompressible-file.md": IncompressibleFile,
    "plasma-file.md": PlasmaFile,
    "atmosphere-file.md": AtmosphereFile,
    "farm-file.md": FarmFile,
    "ocean-file.md": OceanFile,
    "reactive-chemistry.md": ChemistryFile,
}


def main(arguments: list[str]) -> int:
    """Bring the reference in each named page up to date; the exit code."""
    try:
        for name in arguments:
            page = Path(name)
            if page.name not in MODELS:
                raise InputError(f"{name}: no input file is described there; allowed: {', '.join(MODELS)}")
            page.write_text(with_reference(page.read_text(encoding="utf-8"), name, MODELS[page.name]), encoding="utf-8")
    except FathometerError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return InputError.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
