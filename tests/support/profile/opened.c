/* An MPI program that is linked with none: opened LIBRARY [WHAT]. WHAT: "unused": it only opens the library; a file:
   a plugin that is linked with MPI, whose function it calls, with its own symbols first. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int count, char **words) {
    void *plugin;
    void *library = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return 1;
    if (count > 2 && strcmp(words[2], "unused") == 0)
        return 0;
    if (count > 2) {
        if ((plugin = dlopen(words[2], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)) == NULL)
            return 1;
        ((int (*)(void))dlsym(plugin, "begin_and_end"))();
        return 0;
    }
    int (*init)(int *, char ***) = (int (*)(int *, char ***))dlsym(library, "MPI_Init");
    int (*barrier)(void *) = (int (*)(void *))dlsym(library, "MPI_Barrier");
    int (*finalize)(void) = (int (*)(void))dlsym(library, "MPI_Finalize");
    void *world = dlsym(library, "ompi_mpi_comm_world"); /* Open MPI's MPI_COMM_WORLD, and MPICH's */
    init(&count, &words);
    for (int n = 0; n < 3; ++n)
        barrier(world != NULL ? world : (void *)0x44000000);
    finalize();
    return 0;
}
