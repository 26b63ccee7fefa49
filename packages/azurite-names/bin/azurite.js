#!/usr/bin/env node
await import("etagere/bin/etagere");
