import type { Section } from "./contract-guarantees.ts";

const planted = "tests/verify/planted-bugs.proof.ts";
const treeBugs = "tests/verify/planted-tree-bugs.ts";
const cost = "tests/contract/dfs-cost.test.ts";
const race = "tests/race/dfs-race.test.ts";
const rename = "tests/contract/dfs-rename.test.ts";
const access = "tests/auth/path-rename.test.ts";

/** Guarantees of accounts with a hierarchical namespace. */
export const dataLake: Section = {
  title: "7. Data Lake: the Blob API and the Data Lake API",
  guarantees: [
    {
      text: "Both APIs act on the same paths: all their changes and listings have one order.",
      tests: [
        [planted, "finds no violation"],
        [rename, "is seen through the Blob API at once"],
      ],
    },
    {
      text:
        "**A rename is atomic**, whatever is below the directory: no reader and no listing sees " +
        "a part of it, also after a crash. Its cost does not depend on what is below.",
      tests: [
        [treeBugs, "rename in two steps"],
        [race, "a listing shows a renamed directory whole, in one place"],
        [cost, "that renames or deletes a directory does not depend on what is below it"],
        ["tests/kill/kill.proof.ts", "survives"],
      ],
    },
    {
      text:
        "**Commit by rename.** Of several writers that rename their results to one new path with " +
        "`If-None-Match: *`, exactly one succeeds. Conditions and leases are checked on both " +
        "paths.",
      tests: [
        [race, "32 writers that rename to one path: exactly one succeeds"],
        [treeBugs, "rename that overwrites"],
        [rename, "checks conditions of both ends"],
        [rename, "needs the leases of both ends; the path stays leased"],
      ],
    },
    {
      text: "A recursive delete removes everything below a directory at once, or nothing.",
      tests: [[treeBugs, "delete in pieces"]],
    },
    {
      text: "Appended data is not visible before it is flushed; a flush shows all of it.",
      tests: [
        [treeBugs, "append without flush"],
        ["tests/contract/dfs-append.test.ts", "is not visible before it is flushed"],
      ],
    },
    {
      text: "A rename is authorised for its source and its destination, in one account.",
      tests: [
        [access, "a signature for a rename"],
        [access, "the source of a rename"],
      ],
    },
  ],
};
