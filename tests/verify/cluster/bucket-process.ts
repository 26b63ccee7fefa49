/** The bucket of the cluster, on a machine of its own; each message is trouble for a request. */
import { openFakeS3, type FakeS3 } from "../../harness/fake-s3.ts";

const [host = "", port = ""] = process.argv.slice(2);
const bucket = await openFakeS3({ host, port: Number(port) });
process.on("message", (trouble: FakeS3["troubles"][number]) => void bucket.troubles.push(trouble));
process.on("disconnect", () => process.exit(0));
const location = bucket.location.replace("127.0.0.1", host);
process.send?.({ location, credentials: bucket.credentials });
