#include "variables.hpp"

#include "exchange.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace fathometer::messages {

namespace {

constexpr int longest = 4096;

void tools_check(int code, const std::string &name, const char *what) {
    if (code != MPI_SUCCESS)
        throw Failed(name + ": " + what + " (MPI_T returns " + std::to_string(code) + ")");
}

// A control variable, and the interface for as long as one is looked at.
class Variable {
  public:
    explicit Variable(const std::string &name) : name_(name) {
        // The level of threads that MPI was begun with: Open MPI's MPI_Query_thread tells the one asked for last.
        int begun = 0, level = MPI_THREAD_SINGLE;
        MPI_Initialized(&begun);
        if (begun)
            MPI_Query_thread(&level);
        tools_check(MPI_T_init_thread(level, &level), name, "control variables cannot be used");
        try {
            find();
        } catch (...) {
            MPI_T_finalize();
            throw;
        }
    }
    ~Variable() {
        MPI_T_cvar_handle_free(&handle_);
        MPI_T_finalize();
    }
    Variable(const Variable &) = delete;
    Variable &operator=(const Variable &) = delete;

    std::vector<std::string> choices() const {
        std::vector<std::string> names;
        for (int n = 0; n < item_count(); ++n)
            names.push_back(item(n).first);
        return names;
    }

    std::string get() {
        if (type_ == MPI_CHAR) {
            std::string text(longest, '\0');
            tools_check(MPI_T_cvar_read(handle_, text.data()), name_, "cannot be read");
            return text.c_str();
        }
        const long long number = read_number();
        for (int n = 0; n < item_count(); ++n)
            if (item(n).second == number)
                return item(n).first;
        return std::to_string(number);
    }

    void set(const std::string &value) {
        if (type_ == MPI_CHAR) {
            tools_check(MPI_T_cvar_write(handle_, value.c_str()), name_, "cannot be changed");
            return;
        }
        long long number = 0;
        bool known = false;
        for (int n = 0; n < item_count() && !known; ++n)
            if (item(n).first == value) {
                number = item(n).second;
                known = true;
            }
        if (!known) {
            const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
            if (error != std::errc() || end != value.data() + value.size())
                throw Failed(name_ + ": found " + value + "; allowed: " + listed());
        }
        write_number(number);
    }

  private:
    void find() {
        char name[longest];
        int count = 0;
        tools_check(MPI_T_cvar_get_num(&count), name_, "control variables cannot be listed");
        for (int index = 0; index < count; ++index) {
            int length = longest, verbosity = 0, none = 0, bind = 0, scope = 0;
            MPI_T_enum items = MPI_T_ENUM_NULL;
            MPI_Datatype type = MPI_DATATYPE_NULL;
            if (MPI_T_cvar_get_info(index, name, &length, &verbosity, &type, &items, nullptr, &none, &bind, &scope) !=
                    MPI_SUCCESS ||
                name_ != name)
                continue;
            items_ = items;
            type_ = type;
            tools_check(MPI_T_cvar_handle_alloc(index, nullptr, &handle_, &count_), name_, "cannot be looked at");
            return;
        }
        throw Failed(name_ + ": this MPI has no such control variable");
    }

    int item_count() const {
        if (items_ == MPI_T_ENUM_NULL)
            return 0;
        char name[longest];
        int count = 0, length = longest;
        return MPI_T_enum_get_info(items_, &count, name, &length) == MPI_SUCCESS ? count : 0;
    }

    std::pair<std::string, int> item(int index) const {
        char name[longest];
        int number = 0, length = longest;
        tools_check(MPI_T_enum_get_item(items_, index, &number, name, &length), name_, "has no such value");
        return {name, number};
    }

    std::string listed() const {
        std::string text;
        for (const std::string &name : choices())
            text += (text.empty() ? "" : ", ") + name;
        return text.empty() ? "a whole number" : text;
    }

    long long read_number() {
        unsigned char bytes[longest] = {};
        tools_check(MPI_T_cvar_read(handle_, bytes), name_, "cannot be read");
        if (type_ == MPI_INT)
            return as<int>(bytes);
        if (type_ == MPI_UNSIGNED)
            return as<unsigned>(bytes);
        if (type_ == MPI_UNSIGNED_LONG)
            return static_cast<long long>(as<unsigned long>(bytes));
        if (type_ == MPI_C_BOOL)
            return as<bool>(bytes);
        if (type_ == MPI_UNSIGNED_LONG_LONG || type_ == MPI_COUNT)
            return as<long long>(bytes);
        throw Failed(name_ + ": is of a kind that is not read here");
    }

    template <class Number> static Number as(const unsigned char *bytes) {
        Number number;
        std::memcpy(&number, bytes, sizeof number);
        return number;
    }

    void write_number(long long number) {
        unsigned char bytes[sizeof number] = {};
        if (type_ == MPI_INT || type_ == MPI_UNSIGNED) {
            const int narrow = static_cast<int>(number);
            std::memcpy(bytes, &narrow, sizeof narrow);
        } else if (type_ == MPI_C_BOOL) {
            bytes[0] = number != 0;
        } else {
            std::memcpy(bytes, &number, sizeof number);
        }
        tools_check(MPI_T_cvar_write(handle_, bytes), name_, "cannot be changed");
    }

    std::string name_;
    MPI_T_cvar_handle handle_ = MPI_T_CVAR_HANDLE_NULL;
    MPI_T_enum items_ = MPI_T_ENUM_NULL;
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
    int count_ = 0;
};

} // namespace

std::vector<std::string> choices(const std::string &name) { return Variable(name).choices(); }

std::string value(const std::string &name) { return Variable(name).get(); }

void set_value(const std::string &name, const std::string &value) { Variable(name).set(value); }

} // namespace fathometer::messages
