// `npm run kill`: the kill test in full, over all services: two hundred kills and more than a million
// acknowledged writes, half with one process on the folder and half with two, then fifty kills of
// queues with their whole history. ETAGERE_KILLS, ETAGERE_KILL_REQUESTS and ETAGERE_QUEUE_KILLS say
// otherwise; ETAGERE_KILL_RECORD names the files for the figures.
process.env["ETAGERE_KILLS"] ??= "200";
process.env["ETAGERE_KILL_REQUESTS"] ??= "150";
process.env["ETAGERE_QUEUE_KILLS"] ??= "50";
process.argv.splice(2, 0, "tests/kill");
await import("./test.mjs");
