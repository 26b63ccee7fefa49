// `npm run kill`: the kill test in full, fifty rounds. ETAGERE_KILL_ROUNDS says otherwise.
process.env["ETAGERE_KILL_ROUNDS"] ??= "50";
process.argv.splice(2, 0, "tests/kill/kill.test.ts");
await import("./test.mjs");
