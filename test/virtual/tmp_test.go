package virtual
var claims, documents, bindingBehavior, schemaBehavior, watches map[string]behavior
