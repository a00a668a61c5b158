# Compiles the kernels for graphics cards (tools/cuda.sh): what has changed, and all where options have.
#
# LIBRARY=… is where the library goes, NVCC=… the compiler. ARCHITECTURES="90 100": of the cards that machine code is made
# for; the driver of others, from compute capability 8.0 on, compiles it when it is first used.

SOURCE := src/fathometer/native/cuda
OBJECTS := build/cuda
REACHES := 1 2 3 4 5 6 7 8
STEPS := $(REACHES:%=$(OBJECTS)/steps%.o)
OTHERS := $(patsubst $(SOURCE)/%.cu,$(OBJECTS)/%.o,$(filter-out %/steps.cu,$(wildcard $(SOURCE)/*.cu)))
# Never --use_fast_math: each operation is rounded as a processor's is, and multiply-adds are those that are written.
OPTIONS := -std=c++20 -O3 --fmad=false --ftz=true --prec-div=true --prec-sqrt=true -Xcompiler -fPIC,-O2 \
  $(foreach n,$(ARCHITECTURES),-gencode arch=compute_$n,code=sm_$n) -gencode arch=compute_80,code=compute_80

.DELETE_ON_ERROR:
.SUFFIXES:
%: %.o

$(LIBRARY): $(OBJECTS)/libcard.so
	@cp $< $@.part && mv -f $@.part $@

$(OBJECTS)/libcard.so: $(STEPS) $(OTHERS)
	@$(NVCC) -shared -cudart static -o $@ $^

$(STEPS): $(OBJECTS)/steps%.o: $(SOURCE)/steps.cu $(OBJECTS)/options
	@$(NVCC) $(OPTIONS) -DFATHOMETER_RADIUS=$* -MD -MF $(@:.o=.d) -MT $@ -c -o $@ $<

$(OTHERS): $(OBJECTS)/%.o: $(SOURCE)/%.cu $(OBJECTS)/options
	@$(NVCC) $(OPTIONS) -MD -MF $(@:.o=.d) -MT $@ -c -o $@ $<

# Which compiler, and how: written before any rule is looked at, and only where it is another one.
$(shell mkdir -p $(OBJECTS); { echo '$(OPTIONS)'; $(NVCC) --version; } > $(OBJECTS)/options.new; \
  cmp -s $(OBJECTS)/options.new $(OBJECTS)/options || cp $(OBJECTS)/options.new $(OBJECTS)/options)

-include $(patsubst %.o,%.d,$(STEPS) $(OTHERS))
