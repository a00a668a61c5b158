// bind() that gives a socket which asks for all addresses of the host the loopback address alone. Preloaded into mpirun
// by launch/one_host.py where all ranks run on this host: Open MPI's launcher has no setting for this.

#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

extern "C" int bind(int socket, const sockaddr *address, socklen_t length) noexcept {
    using Bind = int (*)(int, const sockaddr *, socklen_t);
    static const Bind next = reinterpret_cast<Bind>(dlsym(RTLD_NEXT, "bind"));
    if (address != nullptr && address->sa_family == AF_INET && length >= sizeof(sockaddr_in)) {
        sockaddr_in copy;
        std::memcpy(&copy, address, sizeof copy);
        if (copy.sin_addr.s_addr == htonl(INADDR_ANY))
            copy.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return next(socket, reinterpret_cast<const sockaddr *>(&copy), sizeof copy);
    }
    if (address != nullptr && address->sa_family == AF_INET6 && length >= sizeof(sockaddr_in6)) {
        sockaddr_in6 copy;
        std::memcpy(&copy, address, sizeof copy);
        if (IN6_IS_ADDR_UNSPECIFIED(&copy.sin6_addr))
            copy.sin6_addr = in6addr_loopback;
        return next(socket, reinterpret_cast<const sockaddr *>(&copy), sizeof copy);
    }
    return next(socket, address, length);
}
