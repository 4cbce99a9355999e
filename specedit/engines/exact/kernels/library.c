__attribute__((visibility("default"))) const char *specedit_kernels(void) { return SPECEDIT_KERNELS; }
