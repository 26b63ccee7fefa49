package main

import (
	"strings"

	"github.com/anishathalye/porcupine"
)

// An append blob, empty at the beginning. Its content is kept as length and hash (FNV-1a).
type appended struct {
	length int64
	hash   uint64
}

const (
	hashStart = 14695981039346656037
	hashPrime = 1099511628211
)

var appends = checker{
	parts: appendParts,
	model: porcupine.Model{
		Init: func() any { return appended{hash: hashStart} },
		Step: func(state, input, _ any) (bool, any) {
			return stepAppend(state.(appended), input.(*operation))
		},
	},
}

// appendParts uses that bytes are only added. Where the last read shows the record of an append
// without a response, it stands at that offset. A record that is not shown was not appended before
// that read; if nothing is known of later times, the append says nothing.
func appendParts(key string, operations []*operation, _ header) []part {
	var last *operation
	end := int64(0)
	for _, one := range operations {
		if !one.isDone() {
			continue
		}
		if one.Operation == "read" && (last == nil || one.Called > last.Called) {
			last = one
		} else if one.Operation == "append" {
			end = max(end, one.Result.Offset+int64(len(one.Arguments.Record)))
		}
	}
	made := part{name: key}
	for _, one := range operations {
		if !one.isUnknown() || last == nil || int64(len(last.Result.Text)) < end {
			made.add(one)
			continue
		}
		at := strings.Index(last.Result.Text, one.Arguments.Record)
		if one.Operation == "append" && at >= 0 {
			placed := *one
			placed.Outcome = "answered"
			placed.Result = result{Status: 201, Offset: int64(at)}
			placed.Returned = endless
			made.add(&placed)
		}
	}
	return []part{made}
}

func (a appended) and(text string) appended {
	for index := 0; index < len(text); index++ {
		a.hash = (a.hash ^ uint64(text[index])) * hashPrime
	}
	a.length += int64(len(text))
	return a
}

func stepAppend(state appended, one *operation) (bool, appended) {
	if one.Operation == "read" {
		seen := appended{hash: hashStart}.and(one.Result.Text)
		return one.Result.Status == 200 && seen == state, state
	}
	position := one.Arguments.Position
	isAllowed := position == nil || *position == state.length
	if one.isDone() && one.Result.Offset != state.length {
		return false, state
	}
	return oneOf(one, isAllowed, state, state.and(one.Arguments.Record), 412)
}
