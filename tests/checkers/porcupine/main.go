package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

// part is a set of operations that can be checked alone.
type part struct {
	name       string
	operations []porcupine.Operation
	// fallback has fewer operations, for the case that the exact search takes too long.
	fallback []porcupine.Operation
	// problem is set if no search is needed to see a violation.
	problem string
}

// checker knows the contract for one kind of object.
type checker struct {
	model porcupine.Model
	// fallback allows more than the contract, for parts with a fallback.
	fallback porcupine.Model
	// parts splits the operations of one key.
	parts func(key string, operations []*operation, head header) []part
}

type verdict struct {
	File       string `json:"file"`
	Workload   string `json:"workload"`
	Verdict    string `json:"verdict"`
	Parts      int    `json:"parts"`
	Operations int    `json:"operations"`
	Problems   int    `json:"problems"`
	Undecided  int    `json:"undecided"`
	First      string `json:"first"`
}

var checkers = map[string]checker{
	"blob register":   registers,
	"entity register": registers,
	"block register":  registers,
	"copy register":   registers,
	"lease":           leases,
	"timed lease":     timedLeases,
	"append":          appends,
	"transaction":     transactions,
	"queue":           queues,
	"move":            moves,
	"smb lock":        smbLocks,
	"tree":            trees,
}

func main() {
	timeout := flag.Duration("timeout", 20*time.Second, "for each key")
	flag.Int64Var(&slack, "slack", slack, "microseconds by which times may differ")
	flag.Parse()
	failed := false
	for _, path := range flag.Args() {
		head, operations, err := readHistory(path)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		for _, found := range checkHistory(head, operations, *timeout) {
			found.File = filepath.Base(path)
			line, _ := json.Marshal(found)
			fmt.Println(string(line))
			failed = failed || found.Verdict != "ok"
		}
	}
	if failed {
		os.Exit(1)
	}
}

// checkHistory gives a verdict on each workload for which there is a model.
func checkHistory(head header, operations []*operation, timeout time.Duration) []verdict {
	keys := map[string]map[string][]*operation{}
	for _, one := range operations {
		if keys[one.Workload] == nil {
			keys[one.Workload] = map[string][]*operation{}
		}
		keys[one.Workload][one.Key] = append(keys[one.Workload][one.Key], one)
	}
	var verdicts []verdict
	for _, workload := range sortedKeys(keys) {
		with, isKnown := checkers[workload]
		if !isKnown {
			continue
		}
		found := verdict{Workload: workload, Verdict: "ok"}
		for _, key := range sortedKeys(keys[workload]) {
			found.Operations += len(keys[workload][key])
			for _, each := range with.parts(key, keys[workload][key], head) {
				found.Parts++
				found.add(each.name, checkPart(with, each, timeout))
			}
		}
		verdicts = append(verdicts, found)
	}
	return verdicts
}

func checkPart(with checker, each part, timeout time.Duration) string {
	if each.problem != "" {
		return each.problem
	}
	exactTimeout := timeout
	if each.fallback != nil {
		exactTimeout = timeout / 10
	}
	outcome, info := porcupine.CheckOperationsVerbose(with.model, each.operations, exactTimeout)
	if outcome == porcupine.Unknown && each.fallback != nil {
		outcome, info = porcupine.CheckOperationsVerbose(with.fallback, each.fallback, timeout)
	}
	switch outcome {
	case porcupine.Ok:
		return ""
	case porcupine.Unknown:
		return undecided
	}
	return "no order explains it; " + stuckAt(each.operations, info)
}

const undecided = "not decided in time"

func (v *verdict) add(name, problem string) {
	switch problem {
	case "":
		return
	case undecided:
		v.Undecided++
		if v.Verdict == "ok" {
			v.Verdict = "undecided"
		}
	default:
		v.Problems++
		v.Verdict = "violation"
	}
	if v.First == "" || (problem != undecided && v.Problems == 1) {
		v.First = name + ": " + problem
	}
}

// stuckAt names the first operation that no longest explained order contains.
func stuckAt(operations []porcupine.Operation, info porcupine.LinearizationInfo) string {
	longest := 0
	isIn := map[int]bool{}
	for _, partial := range info.PartialLinearizationsOperations() {
		for _, order := range partial {
			if len(order) < longest {
				continue
			}
			longest = len(order)
			isIn = map[int]bool{}
			for _, one := range order {
				isIn[one.ClientId] = true
			}
		}
	}
	var first *porcupine.Operation
	for index := range operations {
		one := &operations[index]
		if !isIn[one.ClientId] && (first == nil || one.Return < first.Return) {
			first = one
		}
	}
	if first == nil {
		return ""
	}
	text, _ := json.Marshal(first.Input)
	const shownMax = 300
	if len(text) > shownMax {
		text = text[:shownMax]
	}
	return fmt.Sprintf("%d of %d operations are in order, then %s", longest, len(operations), text)
}

// ofKey makes one part of all operations of a key; those without a result that only read are left
// out, because they say nothing.
func ofKey(key string, operations []*operation, isRead func(*operation) bool) part {
	made := part{name: key}
	for _, one := range operations {
		if one.isUnknown() && isRead(one) {
			continue
		}
		made.add(one)
	}
	return made
}

func (p *part) add(one *operation) {
	p.operations = append(p.operations, porcupine.Operation{
		ClientId: len(p.operations),
		Input:    one,
		Call:     one.Called,
		Return:   one.end(),
	})
}

func whole(isRead func(*operation) bool) func(string, []*operation, header) []part {
	return func(key string, operations []*operation, _ header) []part {
		return []part{ofKey(key, operations, isRead)}
	}
}

func named(names ...string) func(*operation) bool {
	return func(one *operation) bool {
		for _, name := range names {
			if one.Operation == name {
				return true
			}
		}
		return false
	}
}

func sortedKeys[V any](of map[string]V) []string {
	keys := make([]string, 0, len(of))
	for key := range of {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
