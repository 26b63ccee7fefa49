#!/usr/bin/env node
process.argv.splice(2, 0, "table");
void import("etagere/bin/etagere");
