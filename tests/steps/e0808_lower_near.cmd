lower ../run/laws.rise right --trace
