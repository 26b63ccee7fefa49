// Package main checks recorded histories (docs/HISTORY-FORMAT.md) with Porcupine. Its models are
// written from the contract alone; they share nothing with the checkers in tests/verify.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
)

const lineBytesMax = 64 << 20

// endless is the return time of an operation without a known result: it may happen at any time
// after its call, or never.
const endless = math.MaxInt64 / 4

type header struct {
	Format   string `json:"format"`
	Version  int    `json:"version"`
	Complete bool   `json:"complete"`
	Planted  string `json:"planted"`
}

type rowWrite struct {
	Row      string `json:"row,omitempty"`
	Previous string `json:"previous,omitempty"`
	Version  string `json:"version,omitempty"`
}

type seenRow struct {
	Row      string `json:"row,omitempty"`
	Version  string `json:"version,omitempty"`
	Previous string `json:"previous,omitempty"`
	Units    int    `json:"units,omitempty"`
}

type message struct {
	ID      string `json:"id,omitempty"`
	Text    string `json:"text,omitempty"`
	Receipt string `json:"receipt,omitempty"`
}

// arguments has the arguments of all operations; each uses some.
type arguments struct {
	Value     string     `json:"value,omitempty"`
	Etag      string     `json:"etag,omitempty"`
	Lease     string     `json:"lease,omitempty"`
	Seconds   int64      `json:"seconds,omitempty"`
	Record    string     `json:"record,omitempty"`
	Position  *int64     `json:"position,omitempty"`
	Writes    []rowWrite `json:"writes,omitempty"`
	Text      string     `json:"text,omitempty"`
	Receipt   string     `json:"receipt,omitempty"`
	From      string     `json:"from,omitempty"`
	To        string     `json:"to,omitempty"`
	At        string     `json:"at,omitempty"`
	Path      string     `json:"path,omitempty"`
	Fresh     bool       `json:"isFresh,omitempty"`
	API       string     `json:"api,omitempty"`
	Handle    string     `json:"handle,omitempty"`
	IsPending bool       `json:"isPending,omitempty"`
}

type result struct {
	Status   int       `json:"status"`
	Code     string    `json:"code,omitempty"`
	Etag     string    `json:"etag,omitempty"`
	Value    string    `json:"value,omitempty"`
	Text     string    `json:"text,omitempty"`
	Offset   int64     `json:"offset,omitempty"`
	Rows     []seenRow `json:"rows,omitempty"`
	Messages []message `json:"messages,omitempty"`
	Receipt  string    `json:"receipt,omitempty"`
	Paths    []string  `json:"paths,omitempty"`
}

type operation struct {
	ID        string    `json:"id"`
	Process   string    `json:"process"`
	Workload  string    `json:"workload"`
	Key       string    `json:"key"`
	Operation string    `json:"operation"`
	Arguments arguments `json:"arguments"`
	Outcome   string    `json:"outcome"`
	Result    result    `json:"result"`
	Called    int64     `json:"called"`
	Returned  int64     `json:"returned"`
}

// isDone: the server said that it was executed.
func (o *operation) isDone() bool { return !o.isUnknown() && o.Result.Status < 300 }

// isRefused: the server said that it changed nothing.
func (o *operation) isRefused() bool { return !o.isUnknown() && o.Result.Status >= 300 }

// isUnknown: no response, or one that does not say whether it was executed.
func (o *operation) isUnknown() bool { return o.Outcome != "answered" || o.Result.Status >= 500 }

func (o *operation) end() int64 {
	if o.isUnknown() {
		return endless
	}
	return o.Returned
}

func readHistory(path string) (header, []*operation, error) {
	var head header
	file, err := os.Open(path)
	if err != nil {
		return head, nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(make([]byte, 1<<16), lineBytesMax)
	var operations []*operation
	for number := 1; lines.Scan(); number++ {
		target := any(&head)
		if number > 1 {
			next := &operation{}
			operations = append(operations, next)
			target = next
		}
		if err := json.Unmarshal(lines.Bytes(), target); err != nil {
			return head, nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
	}
	if head.Format != "etagere-history" || head.Version != 1 {
		return head, nil, fmt.Errorf("%s is not a history of version 1", path)
	}
	return head, operations, lines.Err()
}
