package main

import "github.com/anishathalye/porcupine"

const microsecondsPerSecond = 1_000_000

// slack in microseconds: times of the server may be rounded to milliseconds. Only main sets it.
var slack int64 = 20_000

// A blob with leases that end by themselves. An operation happens at one moment between its call
// and its return; the model keeps what is known about the moments of earlier ones.
type timed struct {
	// id of the last lease.
	id string
	// isOver: the last lease has ended. An expired one can be renewed while nothing was written.
	isOver     bool
	isModified bool
	// The lease ends between these.
	endLow, endHigh int64
	// length of the lease.
	length int64
	// now: the moments of all operations so far are known to have passed at this time.
	now int64
}

var timedLeases = checker{
	parts: whole(func(*operation) bool { return false }),
	model: (&porcupine.NondeterministicModel{
		Init: func() []any { return []any{timed{isOver: true}} },
		Step: func(state, input, _ any) []any {
			return stepTimed(state.(timed), input.(*operation))
		},
	}).ToModel(),
}

func stepTimed(before timed, one *operation) []any {
	latest := one.end()
	before.now = max(before.now, one.Called)
	if !before.isOver {
		// The lease was granted before this moment.
		before.endHigh = min(before.endHigh, latest+before.length)
	}
	var after []any
	if held, isPossible := before.asHeld(); isPossible {
		after = append(after, held.whileHeld(one)...)
	}
	if free, isPossible := before.asFree(latest); isPossible {
		after = append(after, free.whileFree(one)...)
	}
	return after
}

// asHeld assumes that the lease has not ended at this moment.
func (t timed) asHeld() (timed, bool) {
	if t.isOver || t.endHigh+slack < t.now {
		return t, false
	}
	t.endLow = max(t.endLow, t.now-slack)
	t.endHigh = max(t.endHigh, t.endLow)
	return t, true
}

// asFree assumes that the lease has ended at this moment, or that there is none.
func (t timed) asFree(latest int64) (timed, bool) {
	if t.isOver {
		return t, true
	}
	if t.endLow-slack > latest {
		return t, false
	}
	t.now = max(t.now, t.endLow-slack)
	t.isOver = true
	t.endLow, t.endHigh = 0, 0
	return t, true
}

func (t timed) granted(one *operation) timed {
	length := one.Arguments.Seconds * microsecondsPerSecond
	return timed{
		id:      one.Arguments.Lease,
		endLow:  t.now + length,
		endHigh: one.end() + length,
		length:  length,
		now:     t.now,
	}
}

func (t timed) whileHeld(one *operation) []any {
	isOwn := one.Arguments.Lease == t.id
	switch one.Operation {
	case "write":
		return possible(one, isOwn, t, t)
	case "acquire", "renew":
		return possible(one, isOwn, t, t.granted(one))
	case "release":
		return possible(one, isOwn, t, timed{isOver: true, now: t.now})
	}
	return nil
}

func (t timed) whileFree(one *operation) []any {
	isOwn := t.id != "" && one.Arguments.Lease == t.id
	switch one.Operation {
	case "write":
		written := t
		written.isModified = true
		return possible(one, one.Arguments.Lease == "", t, written)
	case "acquire":
		return possible(one, true, t, t.granted(one))
	case "renew":
		return either(one, isOwn && !t.isModified, t, t.granted(one))
	case "release":
		return either(one, isOwn, t, timed{isOver: true, now: t.now})
	}
	return nil
}

// possible: executed if and only if it is allowed.
func possible(one *operation, isAllowed bool, before, after timed) []any {
	isRight, next := oneOf(one, isAllowed, before, after, 409, 412)
	if !isRight {
		return nil
	}
	return []any{next}
}

// either: the contract lets the server refuse it although it could be executed.
func either(one *operation, isAllowed bool, before, after timed) []any {
	switch {
	case one.isUnknown() && isAllowed:
		return []any{before, after}
	case one.isDone() && isAllowed:
		return []any{after}
	case one.isDone():
		return nil
	}
	return []any{before}
}
