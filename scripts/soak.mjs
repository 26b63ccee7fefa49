// `npm run soak`: ten minutes of clients of all services; memory, descriptors and latency must stay
// what they are, and space come back. ETAGERE_SOAK_SECONDS says otherwise; ETAGERE_SOAK_RECORD names
// a file for the figures.
process.env["ETAGERE_SOAK_SECONDS"] ??= "600";
process.argv.splice(2, 0, "tests/soak");
await import("./test.mjs");
