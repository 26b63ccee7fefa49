// Replaces the package with which lmdb finds its native module.
import { loadAddon } from "./load-addon.ts";

// oxlint-disable-next-line import/no-default-export -- the replaced package has one
export default (): unknown => loadAddon("lmdb.node");
