// `sudo node scripts/install-tools.mjs`: the Debian packages the tests need, once.
import { installMissing } from "./tools.mjs";

installMissing();
