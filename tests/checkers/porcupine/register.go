package main

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// A blob or an entity: contract 1 (strong, atomic), 2 (optimistic, last writer wins), 3 and 4.
type register struct {
	exists bool
	value  string
	etag   string
}

// change is a register operation with the ETag that its value has if it is stored. Without a
// response only later readers tell it.
type change struct {
	*operation
	newEtag string
	// hidden: changes without a response that no client read may happen from these times on.
	hiddenWrite, hiddenRemoval int64
}

var registers = checker{
	parts: registerParts,
	model: porcupine.Model{
		Init: func() any { return register{} },
		Step: func(state, input, _ any) (bool, any) {
			return stepRegister(state.(register), input.(change))
		},
	},
	fallback: (&porcupine.NondeterministicModel{
		Init: func() []any { return []any{register{}} },
		Step: func(state, input, _ any) []any {
			return stepHidden(state.(register), input.(change))
		},
	}).ToModel(),
}

func registerParts(key string, operations []*operation, _ header) []part {
	made := ofKey(key, operations, named("read"))
	exact := len(made.operations)
	hiddenWrite, hiddenRemoval := int64(endless), int64(endless)
	etags := map[string]string{}
	values := map[string]string{}
	for _, one := range operations {
		value := one.Arguments.Value
		if one.Operation == "read" {
			value = one.Result.Value
		}
		etag := one.Result.Etag
		if !one.isDone() || value == "" || etag == "" {
			continue
		}
		if other, isKnown := values[etag]; isKnown && other != value {
			made.problem = fmt.Sprintf("%s and %s have the same ETag %s", other, value, etag)
		}
		values[etag] = value
		if _, isKnown := etags[value]; !isKnown {
			etags[value] = etag
		}
	}
	relaxed := part{name: key}
	for index := range made.operations {
		one := made.operations[index].Input.(*operation)
		etag := one.Result.Etag
		if !one.isDone() || etag == "" {
			etag = etags[one.Arguments.Value]
		}
		if etag == "" {
			etag = "never seen: " + one.ID
		}
		made.operations[index].Input = change{one, etag, endless, endless}
		switch _, isSeen := etags[one.Arguments.Value]; {
		case !one.isUnknown() || isSeen:
			relaxed.operations = append(relaxed.operations, made.operations[index])
		case one.Arguments.Value == "":
			hiddenRemoval = min(hiddenRemoval, one.Called)
		default:
			hiddenWrite = min(hiddenWrite, one.Called)
		}
	}
	for index := range relaxed.operations {
		one := relaxed.operations[index].Input.(change)
		one.hiddenWrite, one.hiddenRemoval = hiddenWrite, hiddenRemoval
		relaxed.operations[index].Input = one
	}
	if len(relaxed.operations) < exact {
		made.fallback = relaxed.operations
	}
	return []part{made}
}

// stepHidden lets hidden changes happen before the operation. It explains more than there was: each
// of them any number of times, whatever its condition. So what it cannot explain is a violation.
func stepHidden(state register, one change) []any {
	before := []register{state}
	if one.hiddenWrite <= one.end() {
		before = append(before, register{true, "hidden", "hidden"})
	}
	if one.hiddenRemoval <= one.end() {
		before = append(before, register{})
	}
	after := []any{}
	for _, each := range before {
		if isRight, next := stepRegister(each, one); isRight {
			after = append(after, next)
		}
	}
	return after
}

func stepRegister(state register, one change) (bool, register) {
	given := one.Arguments
	matches := state.exists && state.etag == given.Etag
	stored := register{true, given.Value, one.newEtag}
	switch one.Operation {
	case "read":
		if one.Result.Status == 404 {
			return !state.exists, state
		}
		isSame := state.value == one.Result.Value && state.etag == one.Result.Etag
		return one.Result.Status == 200 && state.exists && isSame, state
	case "write":
		// It asks for no condition, so every refusal is wrong.
		return !one.isRefused(), stored
	case "create":
		return one.decide(!state.exists, state, stored, 409, 412)
	case "swap":
		return one.match(matches, state, stored)
	case "remove":
		return one.decide(state.exists, state, register{}, 404)
	case "removeMatch":
		return one.match(matches, state, register{})
	}
	return false, state
}

// decide: it is executed if and only if its condition holds at that moment. Without a result both
// are possible, as the state decides.
func (c change) decide(holds bool, before, after register, refusals ...int) (bool, register) {
	switch {
	case c.isUnknown():
		if holds {
			return true, after
		}
		return true, before
	case c.isDone():
		return holds, after
	}
	for _, status := range refusals {
		if c.Result.Status == status {
			return !holds, before
		}
	}
	return false, before
}

// match also knows that 404 says more than 412.
func (c change) match(holds bool, before, after register) (bool, register) {
	if c.isRefused() && c.Result.Status == 404 {
		return !before.exists, before
	}
	return c.decide(holds, before, after, 412)
}
