// `npm run power-cut`: three hundred losses of power under clients of all services. ETAGERE_CUTS,
// ETAGERE_CUT_STEPS (of each object) and ETAGERE_CUT_SEED say otherwise; ETAGERE_CUT_RECORD names a
// file for the figures.
process.env["ETAGERE_CUTS"] ??= "300";
process.env["ETAGERE_CUT_STEPS"] ??= "60";
process.argv.splice(2, 0, "tests/power-cut");
await import("./test.mjs");
