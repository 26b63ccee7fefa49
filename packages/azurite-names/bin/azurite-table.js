#!/usr/bin/env node
process.argv.splice(2, 0, "table");
await import("etagere/bin/etagere");
