import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { allOf, readFromAll, writeToAll } from "./all-services.ts";
import { docker, tryDocker, work } from "./docker.ts";
import { until } from "./until.ts";

const nodes = 3;
const compose = readFileSync("compose.yaml", "utf8");

/** The name with the tag that compose.yaml has. */
function imageNamed(name: string): string {
  return new RegExp(`image: (${name}:\\S+)`).exec(compose)?.[1] ?? "";
}

/** Builds the stand-in of a public image. */
function buildStandIn(image: string, lines: readonly string[], files: readonly string[] = []) {
  const folder = join(work, "stand-ins", image.replaceAll(/\W/g, "-"));
  mkdirSync(folder, { recursive: true });
  for (const path of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(path, join(folder, path));
  }
  writeFileSync(join(folder, "Dockerfile"), lines.join("\n"));
  docker("build", "--tag", image, folder);
}

const install =
  "RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends";

function buildStandIns(): void {
  const standIns = "tests/deploy/stand-ins";
  buildStandIn(
    imageNamed("postgres"),
    [
      "FROM debian:trixie-slim",
      `${install} postgresql && ln -s /usr/lib/postgresql/*/bin/* /usr/local/bin/ || true`,
      `COPY ${standIns}/postgres.sh /`,
      "USER postgres",
      'CMD ["sh", "/postgres.sh"]',
    ],
    [`${standIns}/postgres.sh`],
  );
  buildStandIn(imageNamed("haproxy"), [
    "FROM debian:trixie-slim",
    `${install} haproxy`,
    'CMD ["haproxy", "-W", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]',
  ]);
  const base = /^FROM .*?(node:\S+)/m.exec(readFileSync("Dockerfile", "utf8"))?.[1] ?? "";
  const sources = [`${standIns}/s3-server.ts`, "tests/harness/fake-s3.ts"];
  sources.push("src/content/s3/signature.ts");
  buildStandIn(
    imageNamed("minio/minio"),
    [`FROM ${base}`, "COPY . /s3", `ENTRYPOINT ["node", "/s3/${standIns}/s3-server.ts"]`],
    sources,
  );
  buildStandIn(
    imageNamed("minio/mc"),
    [`FROM ${base}`, `COPY --chmod=755 ${standIns}/mc.mjs /usr/local/bin/mc`],
    [`${standIns}/mc.mjs`],
  );
}

function containersOf(service: string): readonly string[] {
  return docker("compose", "ps", "--quiet", service).split("\n");
}

function addressOf(container: string): string {
  const format = "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}";
  return docker("inspect", "--format", format, container);
}

beforeAll(async () => {
  buildStandIns();
  // The command of the guide, in the background.
  docker("compose", "up", "--build", "--detach", "--scale", `etagere=${nodes}`);
  await until("the load balancer has found a node", async (signal) => {
    const list = "http://127.0.0.1:10000/devstoreaccount1?comp=list";
    const response = await fetch(list, { signal });
    await response.arrayBuffer();
    // Without a node the load balancer answers 503; a node rejects the anonymous request.
    return response.status < 500;
  });
});
afterAll(() => {
  tryDocker("compose", "down", "--volumes", "--timeout", "5");
});

it("compose serves all clients through the load balancer, and through every node", async () => {
  await writeToAll("127.0.0.1", "balanced");
  expect(await readFromAll("127.0.0.1", "balanced")).toEqual(allOf("balanced"));
  const containers = containersOf("etagere");
  expect(containers).toHaveLength(nodes);
  for (const container of containers) {
    expect(await readFromAll(addressOf(container), "balanced")).toEqual(allOf("balanced"));
  }
});

it("compose keeps the password out of the arguments", () => {
  for (const container of containersOf("etagere")) {
    const [command, environment] = JSON.parse(
      docker("inspect", "--format", "[{{json .Config.Cmd}},{{json .Config.Env}}]", container),
    ) as [string[], string[]];
    expect(command.join(" ")).not.toContain("postgres:");
    expect(environment.some((each) => each.startsWith("ETAGERE_STORE=postgres:"))).toBe(true);
  }
});

it("compose continues without a node that was killed", async () => {
  const [killed = "", other = ""] = containersOf("etagere");
  docker("kill", "--signal=KILL", killed);
  await writeToAll(addressOf(other), "survived");
  const isLeftOut = async () => {
    expect(await readFromAll("127.0.0.1", "survived")).toEqual(allOf("survived"));
    return true;
  };
  // The clients repeat requests after some seconds.
  const limits = { attemptMilliseconds: 60_000 };
  await until("the load balancer has left out the node", isLeftOut, limits);
  expect(await readFromAll("127.0.0.1", "balanced")).toEqual(allOf("balanced"));
});
