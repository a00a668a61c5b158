// The Python module: the kernels of core/ and of every physics, each with a binding file of its own.
#include "acoustic/bindings.hpp"
#include "atmosphere/bindings.hpp"
#include "core/bindings.hpp"
#include "elastic/bindings.hpp"
#include "flow/bindings.hpp"
#include "kirchhoff/bindings.hpp"
#include "ocean/barotropic_bindings.hpp"
#include "ocean/bindings.hpp"
#include "plasma/bindings.hpp"
#include "reactive/bindings.hpp"
#include "wavelet/bindings.hpp"

NB_MODULE(FATHOMETER_VARIANT, m) {
    m.doc() = "Kernels of Fathometer: wave propagation, injection, sampling, imaging, time migration, reactive flow,\n"
              "ocean circulation, incompressible flow, gyrokinetics, a spectral atmosphere, wavelets, threads.";
    m.attr("variant") = NB_TOSTRING(FATHOMETER_VARIANT);
    fathometer::bind_core(m);
    fathometer::acoustic::bind_acoustic(m);
    fathometer::elastic::bind_elastic(m);
    fathometer::kirchhoff::bind_kirchhoff(m);
    fathometer::reactive::bind_reactive(m);
    fathometer::ocean::bind_ocean(m);
    fathometer::ocean::bind_barotropic(m);
    fathometer::flow::bind_flow(m);
    fathometer::plasma::bind_plasma(m);
    fathometer::atmosphere::bind_atmosphere(m);
    fathometer::wavelet::bind_wavelet(m);
}
