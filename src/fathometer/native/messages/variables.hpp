// The MPI library's control variables, by name.
#pragma once

#include <string>
#include <vector>

namespace fathometer::messages {

// Control variables of the MPI library (MPI_T, chapter 15 of the MPI standard 4.0). All raise Failed with what is
// wrong.

// The names of the values that a variable can have; empty where it is a plain number or text.
std::vector<std::string> choices(const std::string &name);

std::string value(const std::string &name);

// Set by its name among the choices, or as a number or text.
void set_value(const std::string &name, const std::string &value);

} // namespace fathometer::messages
