"""NetCDF files of several named variables are written by all ranks together and read box by box."""
