import { createSocket } from "node:dgram";
import { createServer as createHttpServer } from "node:http";
import { createServer, type AddressInfo, type Server } from "node:net";
import { expect, it } from "vitest";
import { start } from "../../src/index.ts";
import { freePorts } from "../harness/server.ts";

/** `<PRI>VERSION TIMESTAMP HOSTNAME APP-NAME PROCID MSGID STRUCTURED-DATA MSG` (RFC 5424, 6). */
const syslogForm =
  /^<110>1 \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z \S+ etagere \d+ audit - (\{.*\})$/;

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function listening(server: Server): Promise<Server> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

/** Runs a server with an audited request. */
async function audited(options: object, act: (adminUrl: string) => Promise<void> = async () => {}) {
  const server = await start({ ...freePorts, inMemoryPersistence: true, ...options });
  await fetch(`${server.urls.blob}/devstoreaccount1/box?restype=container`);
  await act(server.adminUrl);
  await server.stop();
}

const request = { service: "blob", method: "GET", resource: "/devstoreaccount1/box", status: 404 };

it("sends each line to syslog over UDP", async () => {
  const socket = createSocket("udp4");
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  const received = new Promise<string>((resolve) => {
    socket.once("message", (bytes) => resolve(bytes.toString("utf8")));
  });
  await audited({ auditSyslog: `udp://127.0.0.1:${socket.address().port}` });
  const [, line = ""] = syslogForm.exec(await received) ?? [];
  expect(JSON.parse(line)).toMatchObject(request);
  socket.close();
});

it("sends each line to syslog over TCP with its length", async () => {
  let text = "";
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const receiver = await listening(
    createServer((socket) => {
      socket.on("data", (bytes: Buffer) => (text += bytes.toString("utf8")));
      socket.on("end", end);
    }),
  );
  await audited({ auditSyslog: `tcp://127.0.0.1:${portOf(receiver)}` });
  await ended;
  const [, length = "", rest = ""] = /^(\d+) (.*)$/s.exec(text) ?? [];
  const message = Buffer.from(rest).subarray(0, Number(length)).toString("utf8");
  const [, line = ""] = syslogForm.exec(message) ?? [];
  expect(JSON.parse(line)).toMatchObject(request);
  receiver.close();
});

it("posts lines to a webhook again until it accepts them", async () => {
  const bodies: string[] = [];
  const receiver = createHttpServer((sent, response) => {
    const chunks: Buffer[] = [];
    sent.on("data", (chunk: Buffer) => chunks.push(chunk));
    sent.on("end", () => {
      bodies.push(Buffer.concat(chunks).toString("utf8"));
      response.writeHead(bodies.length === 1 ? 503 : 204).end();
    });
  });
  await listening(receiver);
  await audited({ auditWebhook: `http://127.0.0.1:${portOf(receiver)}/audit` }, async () => {
    while (bodies.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
  });
  const [line = ""] = (bodies.at(-1) ?? "").split("\n");
  expect(JSON.parse(line)).toMatchObject(request);
  receiver.close();
});

it("shows the number of lost lines in the metrics", async () => {
  const closed = await listening(createServer());
  const url = `http://127.0.0.1:${portOf(closed)}/`;
  await new Promise((resolve) => closed.close(resolve));
  await audited({ auditWebhook: url }, async (adminUrl) => {
    const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
    expect(metrics).toContain('etagere_audit_lost_lines_total{target="webhook"} 0');
  });
});
