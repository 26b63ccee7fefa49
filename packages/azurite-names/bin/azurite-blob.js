#!/usr/bin/env node
process.argv.splice(2, 0, "blob");
void import("etagere/bin/etagere");
