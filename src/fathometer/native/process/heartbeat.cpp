// A thread that writes a growing number into a file now and then, for parallel/heartbeat.py. Not a thread of Python: it
// beats on while a long call holds Python's global lock, and stands still only where the process does.

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

namespace {

struct Heartbeat {
    std::string path;
    std::chrono::duration<double> pause;
    std::mutex mutex;
    std::condition_variable ended;
    bool end = false;
};

// Opened each time, and only if it is still there: closing makes the number visible to other hosts.
void beat(const std::string &path, unsigned long long number) {
    const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return;
    char text[32];
    const int length = std::snprintf(text, sizeof text, "%020llu\n", number);
    if (pwrite(file, text, length, 0) != length) { // then this beat is missing, as is the point
    }
    close(file);
}

void run(std::shared_ptr<Heartbeat> heart) {
    std::unique_lock lock(heart->mutex);
    for (unsigned long long number = 1; !heart->end; ++number) {
        lock.unlock();
        beat(heart->path, number);
        lock.lock();
        heart->ended.wait_for(lock, heart->pause, [&] { return heart->end; });
    }
}

} // namespace

extern "C" {

// Begin to write into an existing file; null where there can be no thread.
void *heartbeat_begin(const char *path, double seconds) {
    auto heart = std::make_shared<Heartbeat>();
    heart->path = path;
    heart->pause = std::chrono::duration<double>(seconds);
    sigset_t all, before; // signals are for Python's main thread
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    void *handle = nullptr;
    try {
        std::thread(run, heart).detach(); // never waited for: its file system may hang
        handle = new std::shared_ptr<Heartbeat>(heart);
    } catch (const std::system_error &) {
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return handle;
}

void heartbeat_end(void *handle) {
    const std::unique_ptr<std::shared_ptr<Heartbeat>> heart(static_cast<std::shared_ptr<Heartbeat> *>(handle));
    if (!heart)
        return;
    const std::lock_guard lock((*heart)->mutex);
    (*heart)->end = true;
    (*heart)->ended.notify_all();
}
}
