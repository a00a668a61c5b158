"""The cost of a survey is predicted here: seconds, bytes of memory, disk, files and messages, from counts and a
machine's rates."""
