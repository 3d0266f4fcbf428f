package conversion

import (
	"encoding/base64"
	"fmt"
	"math"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/runtime"
)

// maxDepth bounds how deep a value may be that an expression returns.
const maxDepth = 100

// jsonOf returns a value of CEL as objects hold it. format is that of the field it is
// for, as its schema says.
func jsonOf(value ref.Val, format string) (any, error) { return jsonBelow(value, format, 0) }

func jsonBelow(value ref.Val, format string, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("the value is deeper than %d", maxDepth)
	}
	switch v := value.(type) {
	case types.Null:
		return nil, nil
	case types.Bool:
		return bool(v), nil
	case types.Int:
		return int64(v), nil
	case types.Uint:
		if v > math.MaxInt64 {
			return nil, fmt.Errorf("%d is too large a number", uint64(v))
		}
		return int64(v), nil
	case types.Double:
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return nil, fmt.Errorf("%v is no number that an object can hold", float64(v))
		}
		return float64(v), nil
	case types.String:
		return string(v), nil
	case types.Bytes:
		return base64.StdEncoding.EncodeToString(v), nil
	case types.Timestamp:
		if format == "date" {
			return v.Format(time.DateOnly), nil
		}
		return v.UTC().Format(time.RFC3339Nano), nil
	case types.Duration:
		return v.Duration.String(), nil
	}
	switch native := value.Value().(type) {
	case map[string]any, []any:
		// What came in from the object, and goes out as it was.
		if isJSON(native) {
			return runtime.DeepCopyJSONValue(native), nil
		}
	}
	switch v := value.(type) {
	case traits.Mapper:
		return jsonMap(v, depth)
	case traits.Lister:
		return jsonList(v, depth)
	}
	return nil, fmt.Errorf("%s is nothing that an object can hold", value.Type().TypeName())
}

func jsonMap(value traits.Mapper, depth int) (any, error) {
	result := map[string]any{}
	for it := value.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		name, ok := key.Value().(string)
		if !ok {
			return nil, fmt.Errorf("a key is of type %s, not a string", key.Type().TypeName())
		}
		item, err := jsonBelow(value.Get(key), "", depth+1)
		if err != nil {
			return nil, err
		}
		result[name] = item
	}
	return result, nil
}

func jsonList(value traits.Lister, depth int) (any, error) {
	result := []any{}
	for it := value.Iterator(); it.HasNext() == types.True; {
		item, err := jsonBelow(it.Next(), "", depth+1)
		if err != nil {
			return nil, err
		}
		result = append(result, item)
	}
	return result, nil
}

// isJSON says whether value consists of what objects hold, all the way down.
func isJSON(value any) bool {
	switch v := value.(type) {
	case nil, string, int64, float64, bool:
		return true
	case []any:
		for _, item := range v {
			if !isJSON(item) {
				return false
			}
		}
		return true
	case map[string]any:
		for _, item := range v {
			if !isJSON(item) {
				return false
			}
		}
		return true
	}
	return false
}
