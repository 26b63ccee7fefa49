/** What the server promises when many clients touch the same data, and the tests that hold it. */
export interface Section {
  readonly title: string;
  readonly promises: readonly Promised[];
}

export interface Promised {
  readonly promise: string;
  readonly tests: readonly Held[];
}

/** A test file and a piece of a title in it. */
export type Held = readonly [path: string, title: string];

const behaviour = "tests/contract/blob-behaviour.test.ts";
const declarations = "tests/contract/blob-declarations.test.ts";
const blobRace = "tests/race/blob-race.test.ts";
const tableRace = "tests/race/table-race.test.ts";
const tableRows = "tests/contract/table-declarations.test.ts";
const tableBehaviour = "tests/contract/table-behaviour.test.ts";
const messages = "tests/contract/queue-messages.test.ts";
const queueLife = "tests/contract/queue-life.test.ts";
const fileLocks = "tests/contract/file-locks.test.ts";
const fileRace = "tests/race/file-race.test.ts";
const twoDoors = "tests/smb-wire/two-doors.test.ts";
const betweenDoors = "tests/smb-wire/locks-between-doors.test.ts";
const treeRace = "tests/smb-wire/tree-race.test.ts";
const fileQuota = "tests/contract/file-quota.test.ts";
const notices = "tests/smb-wire/notices.test.ts";
const planted = "tests/verify/planted-bugs.test.ts";
const bugs = "tests/verify/planted-bugs.ts";
const powerCut = "tests/power-cut/power-cut.proof.ts";
const fuzz = "tests/fuzz/fuzz.test.ts";

export const contract: readonly Section[] = [
  {
    title: "1. Consistency",
    promises: [
      {
        promise:
          "**Strong.** Once a write is acknowledged, every later read sees it: on any " +
          "connection, any process.",
        tests: [
          [planted, "keeps every promise"],
          [bugs, "stale reads"],
        ],
      },
      {
        promise:
          "**Snapshot isolation.** A read sees one state while writes go on: headers and bytes " +
          "of one version, also for a download that takes minutes; one page of a listing or a " +
          "query; a transaction as a whole or not at all.",
        tests: [
          [blobRace, "GETs during overwrites never show an ETag with another version's bytes"],
          ["tests/race/download.test.ts", "returns the old bytes whole"],
          [tableRace, "32 overlapping transactions under readers: no torn read"],
          [bugs, "torn transaction"],
        ],
      },
      {
        promise:
          "**Durable.** What was acknowledged survives `SIGKILL` and loss of power, whole; a " +
          "folder of an earlier release is served as if it were new.",
        tests: [
          ["tests/kill/kill.proof.ts", "kills under clients of all services"],
          [powerCut, "losses of power lose nothing that was acknowledged, and tear nothing"],
          [powerCut, "a server that answers before it flushes is noticed"],
          ["tests/upgrade/upgrade.test.ts", "has stored, as if it were new"],
          ["tests/folder/check.test.ts", "a sound folder"],
          ["tests/folder/check.test.ts", "damage to the bytes is noticed"],
          ["tests/folder/check.test.ts", "damage to the records is noticed"],
          ["tests/folder/live.test.ts", "is copied and checked while clients write to it"],
          ["tests/kill/queue-kill.proof.ts", "keeps its promise over"],
          ["src/content/crash.test.ts", "what a killed process acknowledged is there"],
          ["src/content/compaction-race.test.ts", "is not counted twice"],
          [bugs, "acknowledge before flush"],
        ],
      },
      {
        promise: "**Atomic.** A failed request changes nothing: no record, no ETag, no byte.",
        tests: [
          [behaviour, "refuses a stale If-Match with 412 and changes nothing"],
          [fuzz, "never the server's fault"],
          [fuzz, "refused, but done"],
          ["tests/contract/queue-bad-input.test.ts", "what is refused changes nothing"],
          [tableBehaviour, "is refused with a code, changes nothing"],
          [bugs, "refused, but done"],
          ["tests/attack/attacks.test.ts", "only one is served"],
        ],
      },
    ],
  },
  {
    title: "2. Three strategies",
    promises: [
      {
        promise:
          "**Optimistic.** `If-Match` is compared inside the commit: of any number of clients " +
          "with one ETag exactly one wins, the others get 412.",
        tests: [
          [blobRace, "64 clients with one ETag: exactly one wins"],
          [blobRace, "loses no increment"],
          ["src/store/interleaving.test.ts", "have exactly one winner, in whatever order they go"],
          [bugs, "commit without validation"],
        ],
      },
      {
        promise: "**Pessimistic.** A lease or lock has one holder, and nobody else writes.",
        tests: [
          [blobRace, "64 acquires: one lease"],
          [bugs, "lease check outside the transaction"],
          [bugs, "two holders"],
        ],
      },
      {
        promise: "**Last writer wins.** Every write proceeds, in one order that all readers see.",
        tests: [[blobRace, "64 plain writes all succeed"]],
      },
    ],
  },
  {
    title: "3. Blob service",
    promises: [
      {
        promise: "Every row of the tables of containers and blobs: ETag and conditional headers.",
        tests: [
          [declarations, "3 blob $operation"],
          [behaviour, "3 blob conditions: $id"],
          [behaviour, "3 blob ETag: $id"],
          [behaviour, "3 container conditions"],
        ],
      },
      {
        promise: "Leases on blobs: writes need the id, reads that name one must name the current.",
        tests: [
          [declarations, "every operation that changes a blob's ETag needs the id of its lease"],
          [behaviour, "3 blob leases: $id"],
          ["tests/race/blob-types.test.ts", "no copy lands on a blob after its lease was taken"],
        ],
      },
      {
        promise: "Leases on containers: only delete is exclusive.",
        tests: [
          [declarations, "only Delete Container is exclusive under a container lease"],
          [behaviour, "lets only Delete Container be exclusive"],
        ],
      },
      {
        promise: "Appends are dense and ordered, also under kills and lost connections.",
        tests: [
          ["tests/race/blob-types.test.ts", "parallel appends get dense, distinct offsets"],
          [bugs, "repeated append"],
        ],
      },
    ],
  },
  {
    title: "4. Table service",
    promises: [
      {
        promise: "Every row of the table: ETag returned, If-Match required.",
        tests: [[tableRows, "4 table $operation"]],
      },
      {
        promise:
          "A stale ETag gets 412, `*` forces, none is an upsert, Delete without one is refused.",
        tests: [
          [tableBehaviour, "a stale ETag is 412, * forces, none is an upsert"],
          [tableRace, "64 merges with one ETag: exactly one wins"],
        ],
      },
      {
        promise: "Entity group transactions are atomic and isolated.",
        tests: [
          [tableBehaviour, "one partition, no entity twice, in order, all or nothing"],
          [tableRace, "some serial order"],
          [bugs, "transaction without validation"],
        ],
      },
    ],
  },
  {
    title: "5. Queue service",
    promises: [
      {
        promise: "A message that was got is invisible until its time, and comes back after it.",
        tests: [
          [messages, "a message that was got is invisible to others until its time"],
          [messages, "comes back if it was not deleted by then"],
          [bugs, "no visibility window"],
        ],
      },
      {
        promise: "Deleting and updating need the receipt of the latest get or update.",
        tests: [
          [messages, "%s needs that of the latest get or update"],
          [bugs, "receipt not renewed"],
        ],
      },
      {
        promise: "Never lost, never given to two consumers inside one window.",
        tests: [
          [messages, "many consumers at once never get the same message"],
          ["tests/kill/queue-kill.proof.ts", "keeps its promise over"],
          [bugs, "forgotten message"],
        ],
      },
      {
        promise: "Settings and updates are last-writer-wins.",
        tests: [[queueLife, "5 queue last writer wins"]],
      },
    ],
  },
  {
    title: "6. File service",
    promises: [
      {
        promise: "REST takes no conditional headers; leases on files and shares are kept.",
        tests: [
          ["tests/contract/file-declarations.test.ts", "takes no conditional headers anywhere"],
          ["tests/contract/file-declarations.test.ts", "asks writers of leased files"],
        ],
      },
      {
        promise: "A REST operation against an SMB share mode gets 409 SharingViolation.",
        tests: [
          [fileLocks, "an open that shares nothing locks REST out until it is closed"],
          [fileRace, "no REST write slips between an exclusive open and its close"],
          [twoDoors, "REST beside an SMB open that shares"],
          [bugs, "SMB lock ignored"],
        ],
      },
      {
        promise: "Against a byte-range lock that overlaps it gets 409 FileLockConflict.",
        tests: [
          [fileLocks, "what a client has locked is out of reach, and nothing else is"],
          [betweenDoors, "REST beside bytes 2 to 4 that an SMB client has locked"],
          [bugs, "SMB lock ignored"],
        ],
      },
      {
        promise:
          "A file pending deletion is 409 DeletePending and not listed; 404 when it is gone.",
        tests: [
          [fileLocks, "a marked file is neither listed nor reachable, and can be taken back"],
          [fileLocks, "404 only after the last handle closed"],
          [twoDoors, "REST on a file that is going away"],
          [bugs, "delete-pending ignored"],
          [betweenDoors, "is told of a delete that is pending"],
          [betweenDoors, "that are going away take nothing new in, and are not listed"],
        ],
      },
      {
        promise: "A lease taken over REST keeps SMB writers out, and handles are closed by REST.",
        tests: [
          [betweenDoors, "an SMB open of a file that is leased over REST"],
          [betweenDoors, "are listed with what they are, and closed by their id"],
        ],
      },
      {
        promise: "REST waits for what an SMB client caches, half a minute at most.",
        tests: [
          [betweenDoors, "reads what a client has cached for writing only after it was flushed"],
          [fileLocks, "a client that never answers costs half a minute and a 500"],
        ],
      },
      {
        promise: "Through both doors at once there is one order of all that happens to a tree.",
        tests: [
          [treeRace, "end as if they had come one after the other"],
          [fileQuota, "is not passed by any number of writers at once"],
          [notices, "hears of what REST does in it, in order"],
        ],
      },
      {
        promise: "Deletes and renames over REST are atomic.",
        tests: [
          [fileRace, "a file is never lost in a directory that is deleted at the same time"],
          [fileRace, "never lose the way to the root"],
          [bugs, "rename that copies"],
        ],
      },
    ],
  },
];
