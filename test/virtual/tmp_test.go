package virtual

var claims map[string]behavior
