package main

import "github.com/anishathalye/porcupine"

// A blob with an infinite lease: contract 3, "Leases on blobs". It exists from the beginning, is
// empty and not leased.
type leased struct {
	value string
	// id of the lease; empty if there is none.
	id string
	// isBroken: it has ended, but its holder may still release it, until the next write.
	isBroken bool
}

var leases = checker{
	parts: whole(named("read")),
	model: porcupine.Model{
		Init: func() any { return leased{} },
		Step: func(state, input, _ any) (bool, any) {
			return stepLease(state.(leased), input.(*operation))
		},
	},
}

func stepLease(state leased, one *operation) (bool, leased) {
	given := one.Arguments
	isHeld := state.id != "" && !state.isBroken
	switch one.Operation {
	case "read":
		return one.Result.Status == 200 && one.Result.Value == state.value, state
	case "write":
		// Without a lease a lease id is refused, too.
		mayWrite := (isHeld && given.Lease == state.id) || (!isHeld && given.Lease == "")
		after := state
		after.value = given.Value
		if state.isBroken {
			after = leased{value: given.Value}
		}
		return oneOf(one, mayWrite, state, after, 412)
	case "acquire":
		mayAcquire := !isHeld || given.Lease == state.id
		return oneOf(one, mayAcquire, state, leased{value: state.value, id: given.Lease}, 409)
	case "release":
		return oneOf(one, given.Lease == state.id, state, leased{value: state.value}, 409, 412)
	case "break":
		after := state
		after.isBroken = true
		return oneOf(one, state.id != "", state, after, 409)
	}
	return false, state
}

// oneOf: it is executed if and only if it is allowed at that moment.
func oneOf[S any](one *operation, isAllowed bool, before, after S, refusals ...int) (bool, S) {
	switch {
	case one.isUnknown():
		if isAllowed {
			return true, after
		}
		return true, before
	case one.isDone():
		return isAllowed, after
	}
	for _, status := range refusals {
		if one.Result.Status == status {
			return !isAllowed, before
		}
	}
	return false, before
}
