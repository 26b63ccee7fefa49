package main

import (
	"fmt"
	"sort"

	"github.com/anishathalye/porcupine"
)

// One message of a queue: contract 5. Messages do not influence each other, so each is checked
// alone; a get is one operation for each message that it returned.
type queued struct {
	isPut     bool
	isDeleted bool
	id        string
	receipt   string
	// visible: no client may receive it before.
	visible int64
	now     int64
}

// use of one message.
type use struct {
	*operation
	// kind is put, get, delete, hide or drained (nothing was left at the end).
	kind string
	got  message
	// othersGet: a get that may have received the message, and whose result is unknown, was called
	// at this time. Its receipt is the latest then.
	othersGet int64
}

var queues = checker{
	parts: queueParts,
	model: porcupine.Model{
		Init: func() any { return queued{} },
		Step: func(state, input, _ any) (bool, any) {
			return stepQueue(state.(queued), input.(use))
		},
	},
}

func queueParts(_ string, operations []*operation, head header) []part {
	parts := map[string]*part{}
	lastReturn := int64(0)
	firstLost := int64(endless)
	for _, one := range operations {
		if one.Operation == "get" && one.isUnknown() {
			firstLost = min(firstLost, one.Called)
		} else if one.Operation == "put" {
			parts[one.Arguments.Text] = &part{name: one.Arguments.Text}
		}
		lastReturn = max(lastReturn, max(one.Called, one.Returned))
	}
	add := func(text string, one use) {
		if parts[text] == nil {
			parts[text] = &part{name: text, problem: "received, but never put"}
		}
		one.othersGet = firstLost
		each := parts[text]
		each.operations = append(each.operations, porcupine.Operation{
			ClientId: len(each.operations), Input: one, Call: one.Called, Return: one.end(),
		})
	}
	for _, one := range operations {
		if one.Operation == "get" {
			for _, got := range one.Result.Messages {
				add(got.Text, use{operation: one, kind: "get", got: got})
			}
			continue
		}
		add(one.Arguments.Text, use{operation: one, kind: one.Operation})
	}
	if head.Complete {
		for text := range parts {
			end := &operation{Outcome: "answered", Called: lastReturn + 1, Returned: lastReturn + 2}
			end.Result.Status = 200
			add(text, use{operation: end, kind: "drained"})
		}
	}
	made := []part{}
	for _, text := range sortedKeys(parts) {
		made = append(made, *parts[text])
	}
	sort.SliceStable(made, func(i, j int) bool { return made[i].problem > made[j].problem })
	return made
}

// MarshalJSON shows what was used, in messages about violations.
func (u use) MarshalJSON() ([]byte, error) {
	text := fmt.Sprintf("%q", fmt.Sprintf("%s %s %d %s", u.ID, u.kind, u.Result.Status, u.got.Receipt))
	return []byte(text), nil
}

func stepQueue(state queued, one use) (bool, queued) {
	state.now = max(state.now, one.Called)
	switch one.kind {
	case "put":
		if one.isRefused() {
			return true, state
		}
		state.isPut = true
		return true, state
	case "get":
		return state.receive(one)
	case "delete":
		return state.useReceipt(one, func(after *queued) { after.isDeleted = true })
	case "hide":
		return state.useReceipt(one, func(after *queued) {
			after.receipt = one.Result.Receipt
			if one.isUnknown() {
				after.receipt = "of " + one.ID
			}
			after.visible = state.now + one.Arguments.Seconds*microsecondsPerSecond
		})
	case "drained":
		return !state.isPut || state.isDeleted, state
	}
	return false, state
}

func (q queued) receive(one use) (bool, queued) {
	isOther := q.id != "" && q.id != one.got.ID
	if !q.isPut || q.isDeleted || isOther || q.visible-slack > one.end() {
		return false, q
	}
	q.now = max(q.now, q.visible-slack)
	q.id = one.got.ID
	q.receipt = one.got.Receipt
	q.visible = q.now + one.Arguments.Seconds*microsecondsPerSecond
	return true, q
}

// useReceipt: only the latest receipt is accepted.
func (q queued) useReceipt(one use, change func(*queued)) (bool, queued) {
	isLatest := q.isPut && !q.isDeleted && q.receipt == one.Arguments.Receipt
	after := q
	change(&after)
	if one.isRefused() && isLatest && one.othersGet < one.end() && q.visible-slack < one.end() {
		// A client without a response may have received the message meanwhile.
		q.receipt = "unknown"
		return true, q
	}
	return oneOf(one.operation, isLatest, q, after, 400, 404)
}
