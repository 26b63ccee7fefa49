#!/usr/bin/env node
process.argv.splice(2, 0, "blob");
await import("etagere/bin/etagere");
