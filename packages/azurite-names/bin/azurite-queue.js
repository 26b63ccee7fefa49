#!/usr/bin/env node
process.argv.splice(2, 0, "queue");
void import("etagere/bin/etagere");
