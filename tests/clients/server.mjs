// The server under test, as a user starts it, on free ports.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "../../scripts/prepare.mjs";

const freePorts = ["--blobPort", "--queuePort", "--tablePort", "--adminPort"];

/** `blob` and `queue` of the result are addresses such as `127.0.0.1:40123`. */
export async function startServer(location, flags) {
  const ports = freePorts.flatMap((flag) => [flag, "0"]);
  const words = ["--location", location, "--silent", "--noSmb", ...ports, ...flags];
  const child = spawn(join(root, "bin", "etagere"), words, {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const addresses = {};
  const ended = once(child, "close");
  const listening = new Promise((resolve) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const [, service, address] =
        / (\w+) (?:service )?is successfully.*\/\/(\S+)$/.exec(line) ?? [];
      if (service !== undefined) addresses[service.toLowerCase()] = address;
      if (service === "admin") resolve();
    });
  });
  const isListening = await Promise.race([listening.then(() => true), ended.then(() => false)]);
  if (!isListening) throw new Error("the server did not start");
  return {
    ...addresses,
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
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
