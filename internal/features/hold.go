package features

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
)

// held is who relies on the gates being as they are. Gates hold for the whole process, so
// several servers in one have to agree about them.
var held struct {
	sync.Mutex
	holders int
	// wanted are the gates that the first holder asked for.
	wanted map[string]bool
	// before is what the gates were when nobody held them.
	before map[string]bool
}

// Hold sets gates and keeps them from being set to anything else until release is called,
// as often as there are holders. It refuses what differs from what others hold. When the
// last holder lets go, the gates are what they were before the first.
func Hold(wanted map[string]bool) (release func(), err error) {
	held.Lock()
	defer held.Unlock()
	if held.holders == 0 {
		err = take(wanted)
	} else if !maps.Equal(held.wanted, wanted) {
		err = agree(wanted)
	}
	if err != nil {
		return nil, err
	}
	held.holders++
	return sync.OnceFunc(letGo), nil
}

// take sets gates that nobody holds.
func take(wanted map[string]bool) error {
	held.wanted, held.before = maps.Clone(wanted), nil
	if len(wanted) > 0 {
		held.before = settings(utilfeature.DefaultMutableFeatureGate)
	}
	return Set(wanted)
}

// agree says whether the gates are what they would be if nobody had held them before.
func agree(wanted map[string]bool) error {
	changes, err := changesTo(held.before, wanted)
	if err == nil && len(changes) > 0 {
		err = fmt.Errorf("--feature-gates: they hold for the whole process, where another server runs without %s", strings.Join(changes, ", "))
	}
	return err
}

func letGo() {
	held.Lock()
	defer held.Unlock()
	if held.holders--; held.holders > 0 {
		return
	}
	if len(held.wanted) == 0 {
		return
	}
	changed := map[string]bool{}
	for name, value := range settings(utilfeature.DefaultMutableFeatureGate) {
		if before, ok := held.before[name]; ok && before != value {
			changed[name] = before
		}
	}
	// They were so before, so they can be so.
	_ = Set(changed)
}

// changesTo returns what would have to change of the gates as they are for wanted to hold,
// given what they were before, as "name=value", sorted.
func changesTo(before, wanted map[string]bool) ([]string, error) {
	goal := utilfeature.DefaultMutableFeatureGate.DeepCopy()
	now := settings(goal)
	restored := map[string]bool{}
	// Without any, nobody has changed the gates.
	for name, value := range before {
		if now[name] != value {
			restored[name] = value
		}
	}
	if err := goal.SetFromMap(restored); err != nil {
		return nil, fmt.Errorf("--feature-gates: %w", err)
	}
	if err := goal.SetFromMap(wanted); err != nil {
		return nil, fmt.Errorf("--feature-gates: %w", err)
	}
	changes := map[string]bool{}
	for name, value := range settings(goal) {
		if now[name] != value {
			changes[fmt.Sprintf("%s=%t", name, value)] = true
		}
	}
	return slices.Sorted(maps.Keys(changes)), nil
}

// settings returns what all gates are.
func settings(gates featuregate.MutableFeatureGate) map[string]bool {
	all := gates.GetAll()
	values := make(map[string]bool, len(all))
	for feature := range all {
		if name := string(feature); name != "AllAlpha" && name != "AllBeta" {
			values[name] = gates.Enabled(feature)
		}
	}
	return values
}
