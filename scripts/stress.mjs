// `npm run stress`: two hundred uploads of 64 MiB at once, and a full disk.
process.env["ETAGERE_STRESS"] ??= "1";
process.argv.splice(2, 0, "tests/stress");
await import("./test.mjs");
