package main

import (
	"sort"
	"strings"

	"github.com/anishathalye/porcupine"
)

// A directory tree that two APIs change: one state for both, and every change is atomic. The state
// is the sorted list of "path=content", because Porcupine compares states.
const directory = "directory"

var trees = checker{
	parts: whole(named("read", "list")),
	model: (&porcupine.NondeterministicModel{
		Init: func() []any { return []any{""} },
		Step: func(state, input, _ any) []any {
			return stepTree(state.(string), input.(*operation))
		},
	}).ToModel(),
}

// files by path; the root has an empty path, and exists from the first change on.
type files map[string]string

func filesIn(state string) files {
	found := files{}
	for _, line := range strings.Split(state, "\n") {
		if path, content, isEntry := strings.Cut(line, "="); isEntry {
			found[path] = content
		}
	}
	return found
}

func (f files) state() string {
	lines := make([]string, 0, len(f))
	for path, content := range f {
		lines = append(lines, path+"="+content)
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

func stepTree(state string, one *operation) []any {
	before := filesIn(state)
	switch one.Operation {
	case "read":
		content, exists := before[one.Arguments.Path]
		isRight := !exists && one.Result.Status == 404
		if one.isDone() {
			isRight = exists && content == one.Result.Value
		}
		return only(isRight, state)
	case "list":
		return only(before.isListed(one), state)
	}
	after, isPossible := before.changed(one)
	switch {
	case one.isUnknown() && isPossible:
		return []any{state, after.state()}
	case one.isUnknown():
		return []any{state}
	case one.isDone():
		return only(isPossible, after.state())
	}
	return only(before.mayRefuse(one), state)
}

func only(isRight bool, state string) []any {
	if isRight {
		return []any{state}
	}
	return nil
}

func (f files) isListed(one *operation) bool {
	_, hasRoot := f[""]
	if one.isRefused() {
		return one.Result.Status == 404 && !hasRoot
	}
	if one.Arguments.API == "dfs" && !hasRoot {
		return false
	}
	paths := []string{}
	for path := range f {
		if path != "" {
			paths = append(paths, path)
		}
	}
	sort.Strings(paths)
	seen := append([]string{}, one.Result.Paths...)
	sort.Strings(seen)
	return strings.Join(seen, "\n") == strings.Join(paths, "\n")
}

// changed is what is there after the change, if the change is possible.
func (f files) changed(one *operation) (files, bool) {
	path := one.Arguments.Path
	content, exists := f[path]
	isFile := exists && content != directory
	after := files{}
	for each, with := range f {
		after[each] = with
	}
	switch one.Operation {
	case "put":
		after[path] = one.Arguments.Value
		return after, (!exists || isFile) && after.addParents(path)
	case "create":
		after[path] = ""
		return after, (!exists || isFile) && after.addParents(path)
	case "mkdir":
		after[path] = directory
		return after, !exists && after.addParents(path)
	case "stage":
		return after, isFile
	case "flush":
		after[path] = one.Arguments.Value
		return after, isFile
	case "rename":
		return after, after.rename(path, one.Arguments.To, one.Arguments.Fresh)
	case "delete":
		after.remove(path)
		return after, exists
	case "deleteBlob":
		delete(after, path)
		return after, exists && !f.hasBelow(path)
	}
	return after, false
}

// addParents fails below a file.
func (f files) addParents(path string) bool {
	for parent := parentOf(path); ; parent = parentOf(parent) {
		if content, exists := f[parent]; exists && content != directory {
			return false
		}
		f[parent] = directory
		if parent == "" {
			return true
		}
	}
}

func (f files) rename(path, to string, isFresh bool) bool {
	_, exists := f[path]
	_, isTaken := f[to]
	if !exists || strings.HasPrefix(to, path+"/") || (isFresh && isTaken) {
		return false
	}
	moved := files{}
	for each, content := range f {
		if each == path || strings.HasPrefix(each, path+"/") {
			moved[to+each[len(path):]] = content
		}
	}
	f.remove(path)
	f.remove(to)
	for each, content := range moved {
		f[each] = content
	}
	return f.addParents(to)
}

func (f files) remove(path string) {
	for each := range f {
		if each == path || strings.HasPrefix(each, path+"/") {
			delete(f, each)
		}
	}
}

func (f files) hasBelow(path string) bool {
	for each := range f {
		if strings.HasPrefix(each, path+"/") {
			return true
		}
	}
	return false
}

// mayRefuse: what the status says must be true; it says nothing about other reasons.
func (f files) mayRefuse(one *operation) bool {
	_, exists := f[one.Arguments.Path]
	if one.Result.Status != 404 || one.Operation == "rename" {
		return true
	}
	return !exists
}

func parentOf(path string) string {
	cut := strings.LastIndex(path, "/")
	if cut < 0 {
		return ""
	}
	return path[:cut]
}
