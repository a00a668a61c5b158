"""NetCDF files of several named variables, written by all ranks together and read box by box."""
