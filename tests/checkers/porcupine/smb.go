package main

import (
	"strings"

	"github.com/anishathalye/porcupine"
)

// A file that SMB clients have exclusively for a while: contract 6. Keys that begin with "k" are
// locked by a byte range over the whole file, the others are opened with share mode none.
type shared struct {
	exists bool
	value  string
	// handle that has it.
	holder    string
	isPending bool
}

var smbLocks = checker{
	parts: smbParts,
	model: (&porcupine.NondeterministicModel{
		Init: func() []any { return []any{shared{}} },
		Step: func(state, input, _ any) []any {
			return stepShared(state.(shared), input.(*operation))
		},
	}).ToModel(),
}

// smbParts lets an end without a response happen from the last use of the handle on: a server that
// is killed ends its opens before their clients notice. A client that is killed records no end.
func smbParts(key string, operations []*operation, _ header) []part {
	lastUse := map[string]*operation{}
	hasLeft := map[string]bool{}
	for _, one := range operations {
		handle := one.Arguments.Handle
		if handle == "" {
			continue
		}
		if one.isDone() || lastUse[handle] == nil {
			lastUse[handle] = one
		}
		hasLeft[handle] = hasLeft[handle] || one.Operation == "leave"
	}
	made := part{name: key}
	for _, one := range operations {
		if one.isUnknown() && one.Operation == "read" {
			continue
		}
		if one.isUnknown() && one.Operation == "leave" {
			one = leaveAfter(one.ID, lastUse[one.Arguments.Handle])
		}
		made.add(one)
	}
	for _, handle := range sortedKeys(lastUse) {
		if !hasLeft[handle] {
			made.add(leaveAfter("end of "+handle, lastUse[handle]))
		}
	}
	return []part{made}
}

func leaveAfter(id string, last *operation) *operation {
	left := *last
	left.ID, left.Operation, left.Outcome = id, "leave", "unknown"
	return &left
}

func stepShared(state shared, one *operation) []any {
	given := one.Arguments
	isOwn := state.holder == given.Handle
	isFree := state.exists && state.holder == ""
	after := state
	switch one.Operation {
	case "read":
		return state.outside(one, isFree && one.Result.Value == state.value, state)
	case "write":
		after.value = given.Value
		return state.outside(one, isFree, after)
	case "create":
		return state.outside(one, state.holder == "", shared{exists: true})
	case "take":
		after.holder = given.Handle
		return state.outside(one, isFree, after)
	case "put":
		after.value = given.Value
		return state.inside(one, isOwn, after)
	case "mark":
		after.isPending = given.IsPending
		return state.inside(one, isOwn, after)
	case "leave":
		return state.leave(one, isOwn)
	}
	return nil
}

// outside: by a client that does not have the file.
func (s shared) outside(one *operation, isAllowed bool, after shared) []any {
	switch {
	case one.isUnknown() && isAllowed:
		return []any{after}
	case one.isUnknown():
		return []any{s}
	case one.isDone() && isAllowed:
		return []any{after}
	case one.isRefused() && s.refuses(one):
		return []any{s}
	}
	return nil
}

func (s shared) refuses(one *operation) bool {
	isRange := strings.HasPrefix(one.Key, "k")
	switch one.Result.Code {
	case "ResourceNotFound":
		return !s.exists
	case "DeletePending":
		return s.holder != "" && s.isPending
	case "SharingViolation":
		return s.holder != "" && !s.isPending && !isRange
	case "FileLockConflict":
		return s.holder != "" && isRange
	case "FileClosed":
		return one.Operation == "take"
	}
	return false
}

// inside: by a client that has the file, or had it.
func (s shared) inside(one *operation, isOwn bool, after shared) []any {
	if (one.isDone() || one.isUnknown()) && isOwn {
		return []any{after}
	}
	if !one.isDone() && !isOwn {
		return []any{s}
	}
	return nil
}

func (s shared) leave(one *operation, isOwn bool) []any {
	left := s
	left.holder = ""
	left.isPending = false
	if s.isPending && isOwn {
		if one.isUnknown() {
			// A killed server may forget the mark with the open.
			return []any{shared{}, left}
		}
		return s.inside(one, isOwn, shared{})
	}
	return s.inside(one, isOwn, left)
}
