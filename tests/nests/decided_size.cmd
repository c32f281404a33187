lower decided.rise bySize --strategy stored
