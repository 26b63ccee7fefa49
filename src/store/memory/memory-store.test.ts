import { storeConformance } from "../../../tests/harness/store/conformance.ts";
import { openMemoryStore } from "./open-memory-store.ts";

storeConformance("the memory store", async (options) => openMemoryStore(options));
