package structural

// metadataFits says whether metadata has only fields of ObjectMeta, each of the right
// JSON type, so that decoding into an ObjectMeta and encoding it again would keep it.
// What is inside owner references and managed fields is trusted: both were encoded
// from Go types when they were stored.
func metadataFits(value any) bool {
	metadata, ok := value.(map[string]any)
	if !ok {
		return false
	}
	// Stored objects without a generation get one.
	if generation, ok := metadata["generation"].(int64); !ok || generation == 0 {
		return false
	}
	for key, field := range metadata {
		check, known := metadataFields[key]
		if !known || !check(field) {
			return false
		}
	}
	return true
}

var metadataFields = map[string]func(any) bool{
	"name":                       isString,
	"generateName":               isString,
	"namespace":                  isString,
	"selfLink":                   isString,
	"uid":                        isString,
	"resourceVersion":            isString,
	"generation":                 isInteger,
	"creationTimestamp":          isString,
	"deletionTimestamp":          isString,
	"deletionGracePeriodSeconds": isInteger,
	"labels":                     isStringMap,
	"annotations":                isStringMap,
	"ownerReferences":            isObjectList,
	"finalizers":                 isStringList,
	"managedFields":              isObjectList,
}

func isString(value any) bool {
	_, ok := value.(string)
	return ok
}

func isInteger(value any) bool {
	_, ok := value.(int64)
	return ok
}

func isStringMap(value any) bool {
	entries, ok := value.(map[string]any)
	if !ok {
		return false
	}
	for _, entry := range entries {
		if !isString(entry) {
			return false
		}
	}
	return true
}

func isStringList(value any) bool {
	items, ok := value.([]any)
	if !ok {
		return false
	}
	for _, item := range items {
		if !isString(item) {
			return false
		}
	}
	return true
}

func isObjectList(value any) bool {
	items, ok := value.([]any)
	if !ok {
		return false
	}
	for _, item := range items {
		if _, ok := item.(map[string]any); !ok {
			return false
		}
	}
	return true
}
