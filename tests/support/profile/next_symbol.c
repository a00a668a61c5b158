/* A library that stands before the system's getppid and asks for the next one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

pid_t getppid(void) { return ((pid_t(*)(void))dlsym(RTLD_NEXT, "getppid"))() + 1; }
