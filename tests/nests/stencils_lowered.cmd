lower stencils.rise blur --scheduler=nests
