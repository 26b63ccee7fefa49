package main

import "github.com/anishathalye/porcupine"

// The six entities of a partition. A transfer writes some of them in one transaction with the ETags
// that it read with their previous versions; the first entity gives a unit to each of the others.
type entity struct {
	version  string
	previous string
	units    int
}

type partition [6]entity

var transactions = checker{
	parts: transactionParts,
	model: porcupine.Model{
		Init: func() any {
			var first partition
			for row := range first {
				first[row] = entity{version: "first", units: 10}
			}
			return first
		},
		Step: func(state, input, _ any) (bool, any) {
			return stepTransaction(state.(partition), input.(*operation))
		},
	},
}

// transactionParts leaves out transfers without a response that no query shows: only a transfer that
// has read a version replaces it, so they did not happen before the last query, and after it
// nothing is known.
func transactionParts(key string, operations []*operation, _ header) []part {
	seen := map[string]bool{}
	var last int64
	for _, one := range operations {
		for _, row := range one.Result.Rows {
			seen[row.Version] = true
			seen[row.Previous] = true
			last = max(last, one.Called)
		}
	}
	made := part{name: key}
	for _, one := range operations {
		writes := one.Arguments.Writes
		isShown := len(writes) > 0 && seen[writes[0].Version]
		if one.isUnknown() && !isShown {
			continue
		}
		if one.Operation == "transfer" && one.end() < endless && one.end() > last {
			// Something happened after the last query.
			return []part{ofKey(key, operations, named("query"))}
		}
		made.add(one)
	}
	return []part{made}
}

func rowOf(name string) int {
	if len(name) != 1 || name[0] < '0' || name[0] > '5' {
		return -1
	}
	return int(name[0] - '0')
}

func stepTransaction(state partition, one *operation) (bool, partition) {
	if one.Operation == "query" {
		// A query that is refused changes nothing and says nothing.
		return one.isRefused() || state.shows(one.Result.Rows), state
	}
	after := state
	isAllowed := true
	for index, write := range one.Arguments.Writes {
		row := rowOf(write.Row)
		if row < 0 || state[row].version != write.Previous {
			isAllowed = false
			break
		}
		units := state[row].units + 1
		if index == 0 {
			units = state[row].units + 1 - len(one.Arguments.Writes)
		}
		after[row] = entity{write.Version, write.Previous, units}
	}
	return oneOf(one, isAllowed, state, after, 412)
}

func (p partition) shows(rows []seenRow) bool {
	var seen partition
	if len(rows) != len(seen) {
		return false
	}
	for _, each := range rows {
		row := rowOf(each.Row)
		if row < 0 {
			return false
		}
		seen[row] = entity{each.Version, each.Previous, each.Units}
	}
	return seen == p
}
