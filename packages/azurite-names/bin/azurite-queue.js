#!/usr/bin/env node
process.argv.splice(2, 0, "queue");
await import("etagere/bin/etagere");
