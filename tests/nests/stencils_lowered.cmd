lower stencils.rise blur
