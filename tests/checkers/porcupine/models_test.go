package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// history has one operation per line: times, operation, arguments, result. A missing result is
// unknown, and the second time is then ignored.
func history(t *testing.T, workload, text string) []*operation {
	t.Helper()
	var operations []*operation
	for index, line := range strings.Split(strings.TrimSpace(text), "\n") {
		fields := strings.SplitN(strings.TrimSpace(line), " ", 5)
		one := &operation{ID: fmt.Sprint(index), Workload: workload, Key: "key", Outcome: "unknown"}
		if _, err := fmt.Sscan(fields[0]+" "+fields[1], &one.Called, &one.Returned); err != nil {
			t.Fatal(err)
		}
		one.Operation = fields[2]
		if err := json.Unmarshal([]byte(fields[3]), &one.Arguments); err != nil {
			t.Fatal(err)
		}
		if len(fields) > 4 {
			one.Outcome = "answered"
			if err := json.Unmarshal([]byte(fields[4]), &one.Result); err != nil {
				t.Fatal(err)
			}
		}
		operations = append(operations, one)
	}
	return operations
}

func TestModels(t *testing.T) {
	for _, example := range examples {
		t.Run(example.workload+" "+example.name, func(t *testing.T) {
			operations := history(t, example.workload, example.history)
			found := checkHistory(header{Complete: true}, operations, time.Second)
			if len(found) != 1 || found[0].Verdict != example.verdict {
				t.Errorf("%+v, not %s", found, example.verdict)
			}
		})
	}
}

// A search that would take too long is repeated without changes that no client read.
func TestHidden(t *testing.T) {
	for last, wanted := range map[string]bool{`200,"value":"x","etag":"1"`: false, "404": true} {
		operations := history(t, "blob register", `
			1 2 write {"value":"x"} {"status":201,"etag":"1"}
			3 0 write {"value":"y"}
			4 0 remove {}
			5 6 swap {"value":"z","etag":"1"} {"status":412}
			7 8 read {} {"status":`+last+`}`)
		made := registerParts("key", operations, header{})[0]
		if len(made.operations) != 5 || len(made.fallback) != 3 {
			t.Fatalf("%d and %d operations", len(made.operations), len(made.fallback))
		}
		if porcupine.CheckOperations(registers.fallback, made.fallback) != wanted {
			t.Errorf("%s: not %v", last, wanted)
		}
	}
}

type example struct {
	workload, name, verdict, history string
}

var examples = []example{
	{"blob register", "order of concurrent writes is free", "ok", `
		1 9 write {"value":"x"} {"status":201,"etag":"1"}
		1 9 write {"value":"y"} {"status":201,"etag":"2"}
		10 11 read {} {"status":200,"value":"x","etag":"1"}`},
	{"blob register", "a write without a result happened or not", "ok", `
		1 2 write {"value":"x"} {"status":201,"etag":"1"}
		3 0 write {"value":"y"}
		4 5 read {} {"status":200,"value":"x","etag":"1"}
		6 7 read {} {"status":200,"value":"y","etag":"2"}
		8 9 swap {"value":"z","etag":"2"} {"status":201,"etag":"3"}`},
	{"blob register", "and does not vanish again", "violation", `
		1 2 write {"value":"x"} {"status":201,"etag":"1"}
		3 0 write {"value":"y"}
		4 5 read {} {"status":200,"value":"y","etag":"2"}
		6 7 read {} {"status":200,"value":"x","etag":"1"}`},
	{"blob register", "two winners with one ETag", "violation", `
		1 2 write {"value":"x"} {"status":201,"etag":"1"}
		3 6 swap {"value":"y","etag":"1"} {"status":201,"etag":"2"}
		3 6 swap {"value":"z","etag":"1"} {"status":201,"etag":"3"}`},
	{"blob register", "refused although the ETag is current", "violation", `
		1 2 write {"value":"x"} {"status":201,"etag":"1"}
		3 4 swap {"value":"y","etag":"1"} {"status":412}`},
	{"blob register", "a version without its own ETag", "violation", `
		1 2 write {"value":"x"} {"status":201,"etag":"1"}
		3 4 write {"value":"y"} {"status":201,"etag":"1"}`},
	{"entity register", "an insert over an entity", "violation", `
		1 2 create {"value":"x"} {"status":201,"etag":"1"}
		3 4 create {"value":"y"} {"status":201,"etag":"2"}`},
	{"lease", "one after the other", "ok", `
		1 2 acquire {"lease":"a"} {"status":201}
		3 4 write {"value":"x","lease":"a"} {"status":201}
		5 6 write {"value":"y"} {"status":412}
		7 8 break {} {"status":202}
		9 10 write {"value":"z"} {"status":201}
		11 12 read {} {"status":200,"value":"z"}`},
	{"lease", "a write without its id", "violation", `
		1 2 acquire {"lease":"a"} {"status":201}
		3 4 write {"value":"x"} {"status":201}`},
	{"lease", "two holders", "violation", `
		1 2 acquire {"lease":"a"} {"status":201}
		3 4 acquire {"lease":"b"} {"status":201}`},
	{"lease", "a write forgets a broken lease", "ok", `
		1 2 acquire {"lease":"a"} {"status":201}
		3 4 break {} {"status":202}
		5 6 break {} {"status":202}
		7 8 write {"value":"x"} {"status":201}
		9 10 break {} {"status":409}`},
	{"timed lease", "free after its time", "ok", `
		1000000 1100000 acquire {"lease":"a","seconds":15} {"status":201}
		15900000 15950000 write {} {"status":412}
		16090000 16110000 write {} {"status":201}
		16120000 16130000 write {"lease":"a"} {"status":412}`},
	{"timed lease", "free too early", "violation", `
		1000000 1100000 acquire {"lease":"a","seconds":15} {"status":201}
		15000000 15900000 write {} {"status":201}`},
	{"timed lease", "held too long", "violation", `
		1000000 1100000 acquire {"lease":"a","seconds":15} {"status":201}
		16200000 16300000 write {} {"status":412}`},
	{"timed lease", "an acquire without a result may hold it", "ok", `
		1000000 0 acquire {"lease":"a","seconds":15}
		3000000 3100000 write {} {"status":412}
		18090000 18150000 write {} {"status":201}`},
	{"timed lease", "but not longer than its time after the first refusal", "violation", `
		1000000 0 acquire {"lease":"a","seconds":15}
		3000000 3100000 write {} {"status":412}
		18150000 18160000 write {} {"status":412}`},
	{"append", "in order", "ok", `
		1 2 append {"record":"a|"} {"status":201,"offset":0}
		3 0 append {"record":"b|"}
		4 5 append {"record":"c|","position":2} {"status":412}
		6 7 append {"record":"d|","position":4} {"status":201,"offset":4}
		8 9 read {} {"status":200,"text":"a|b|d|"}`},
	{"append", "a gap", "violation", `
		1 2 append {"record":"a|"} {"status":201,"offset":0}
		3 4 append {"record":"b|"} {"status":201,"offset":3}`},
	{"append", "a record that was acknowledged is missing", "violation", `
		1 2 append {"record":"a|"} {"status":201,"offset":0}
		3 4 read {} {"status":200,"text":""}`},
	{"transaction", "an ETag that is not current", "violation", `
		1 2 transfer {"writes":[{"row":"0","previous":"first","version":"v"}]} {"status":204}
		3 4 transfer {"writes":[{"row":"0","previous":"first","version":"w"}]} {"status":204}`},
	{"transaction", "half of it", "violation", `
		1 2 transfer {"writes":[{"row":"0","previous":"first","version":"v"},{"row":"1","previous":"first","version":"v"}]} {"status":204}
		3 4 query {} {"status":200,"rows":[` + rows("v", "first") + `]}`},
	{"transaction", "all of it", "ok", `
		1 2 transfer {"writes":[{"row":"0","previous":"first","version":"v"},{"row":"1","previous":"first","version":"v"}]} {"status":204}
		3 4 query {} {"status":200,"rows":[` + rows("v", "v") + `]}`},
	{"queue", "received, received again, deleted", "ok", `
		1 2 put {"text":"m"} {"status":201}
		3 4 get {"seconds":1} {"status":200,"messages":[{"id":"i","text":"m","receipt":"1"}]}
		1000004 1000005 get {"seconds":1} {"status":200,"messages":[{"id":"i","text":"m","receipt":"2"}]}
		1000006 1000007 delete {"text":"m","receipt":"1"} {"status":400}
		1000008 1000009 delete {"text":"m","receipt":"2"} {"status":204}`},
	{"queue", "received twice in its time", "violation", `
		1 2 put {"text":"m"} {"status":201}
		3 4 get {"seconds":1} {"status":200,"messages":[{"id":"i","text":"m","receipt":"1"}]}
		900000 950000 get {"seconds":1} {"status":200,"messages":[{"id":"i","text":"m","receipt":"2"}]}
		950001 950002 delete {"text":"m","receipt":"2"} {"status":204}`},
	{"queue", "deleted with an old receipt", "violation", `
		1 2 put {"text":"m"} {"status":201}
		3 4 get {"seconds":1} {"status":200,"messages":[{"id":"i","text":"m","receipt":"1"}]}
		5 6 hide {"text":"m","receipt":"1","seconds":2} {"status":204,"receipt":"2"}
		7 8 delete {"text":"m","receipt":"1"} {"status":204}`},
	{"queue", "lost", "violation", `
		1 2 put {"text":"m"} {"status":201}`},
	{"queue", "a get without a result may have changed the receipt", "ok", `
		1 2 put {"text":"m"} {"status":201}
		3 4 get {"seconds":1} {"status":200,"messages":[{"id":"i","text":"m","receipt":"1"}]}
		5 0 get {"seconds":1}
		2000000 2000001 delete {"text":"m","receipt":"1"} {"status":400}
		4000000 4000001 get {"seconds":1} {"status":200,"messages":[{"id":"i","text":"m","receipt":"3"}]}
		4000002 4000003 delete {"text":"m","receipt":"3"} {"status":204}`},
	{"move", "in neither place", "violation", `
		1 2 move {"from":"a","to":"b"} {"status":200}
		3 4 look {"at":"b"} {"status":404}`},
	{"move", "still in the old place", "violation", `
		1 2 move {"from":"a","to":"b"} {"status":200}
		3 4 look {"at":"a"} {"status":200}`},
	{"smb lock", "a write while another has it", "violation", `
		1 2 create {} {"status":201}
		3 4 take {"handle":"h"} {"status":200}
		5 6 write {"value":"x"} {"status":201}
		7 8 leave {"handle":"h"} {"status":200}`},
	{"smb lock", "a killed server ends its opens", "ok", `
		1 2 create {} {"status":201}
		3 4 take {"handle":"h"} {"status":200}
		5 6 write {"value":"x"} {"status":201}
		7 0 put {"handle":"h","value":"y"}
		8 0 leave {"handle":"h"}
		9 10 read {} {"status":200,"value":"x"}`},
	{"tree", "a directory moves as a whole", "ok", `
		1 2 put {"path":"a/x","value":"v"} {"status":201}
		3 4 rename {"path":"a","to":"b"} {"status":201}
		5 6 list {"api":"dfs"} {"status":200,"paths":["b","b/x"]}`},
	{"tree", "a part of a directory", "violation", `
		1 2 put {"path":"a/x","value":"v"} {"status":201}
		3 4 rename {"path":"a","to":"b"} {"status":201}
		5 6 list {"api":"blob"} {"status":200,"paths":["b"]}`},
}

// rows of a query, after a transfer of one unit from row 0 to row 1.
func rows(first, second string) string {
	text := make([]string, 6)
	for index := range text {
		text[index] = fmt.Sprintf(`{"row":"%d","version":"first","units":10}`, index)
	}
	if first != "first" {
		text[0] = fmt.Sprintf(`{"row":"0","version":"%s","previous":"first","units":9}`, first)
	}
	if second != "first" {
		text[1] = fmt.Sprintf(`{"row":"1","version":"%s","previous":"first","units":11}`, second)
	}
	return strings.Join(text, ",")
}
