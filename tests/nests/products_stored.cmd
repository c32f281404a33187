lower kernels.rise chain --strategy stored
