lower results.rise bySize --plan
