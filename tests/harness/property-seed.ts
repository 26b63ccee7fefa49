import { configureGlobal, readConfigureGlobal } from "fast-check";

/** Properties without a seed of their own use this one: a test run must not fail by chance. With
 *  another number, or `random`, they search for inputs that no run has tried. */
const seed = process.env["ETAGERE_TEST_SEED"] ?? "20261116";

if (seed !== "random") configureGlobal({ ...readConfigureGlobal(), seed: Number(seed) });
