from fathometer.base.errors import FathometerError as FathometerError
from fathometer.base.errors import InputError as InputError
from fathometer.python.inputs import Input as Input
from fathometer.python.inputs import Survey as Survey
from fathometer.python.opening import open_gathers as open_gathers
from fathometer.python.opening import open_volume as open_volume
from fathometer.python.records import Record as Record
from fathometer.python.records import record as record
from fathometer.python.running import Run as Run
from fathometer.python.running import run as run

__version__: str
