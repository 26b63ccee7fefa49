#!/usr/bin/env node
void import("etagere/bin/etagere");
