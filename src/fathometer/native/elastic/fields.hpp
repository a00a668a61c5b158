// The order of the fields and of the arrays of the medium, in two and three dimensions.
#pragma once

namespace fathometer::elastic {

template <bool Y> struct Fields {
    enum Field {
        vx = 0,
        vy = 1,
        vz = Y ? 2 : 1,
        sxx = vz + 1,
        syy = sxx + 1,
        szz = Y ? 5 : 3,
        sxy = 6,
        sxz = Y ? 7 : 4,
        syz = 8,
        fields = Y ? 9 : 5
    };
    // Buoyancies, moduli, and with attenuation what is relaxed of them.
    enum Model {
        bx = 0,
        by = 1,
        bz = Y ? 2 : 1,
        p = bz + 1,
        lame = p + 1,
        mxy = lame + 1,
        mxz = Y ? 6 : 4,
        myz = 7,
        models = Y ? 8 : 5,
        defect_p = models,
        defect_s = models + 1
    };
    static constexpr int velocities = Y ? 3 : 2;
    static constexpr int component(int axis) { return !Y && axis == 2 ? 1 : axis; } // of a velocity, or a force
};

} // namespace fathometer::elastic
