// The server under test, as a user starts it, on free ports.
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { root } from "../../scripts/prepare.mjs";
import { serve } from "../../scripts/serve.mjs";

const freePorts = ["--blobPort", "--queuePort", "--tablePort", "--dfsPort", "--adminPort"];

/** `blob`, `queue` and `dfs` of the result are addresses such as `127.0.0.1:40123`. */
export async function startServer(location, flags) {
  const ports = freePorts.flatMap((flag) => [flag, "0"]);
  const words = ["--location", location, "--silent", "--noSmb", ...ports, ...flags];
  const command = [join(root, "bin", "etagere"), ...words];
  const last = /Etagere admin is successfully listening/;
  const { urls, ...server } = await serve({ command, last });
  const addresses = Object.entries(urls).map(([name, url]) => [name, url.replace(/^\w+:\/\//, "")]);
  return { ...server, ...Object.fromEntries(addresses) };
}

export async function canListen(port) {
  const probe = createServer().listen(port, "127.0.0.1");
  try {
    await once(probe, "listening");
    return true;
  } catch {
    return false;
  } finally {
    probe.close();
  }
}
