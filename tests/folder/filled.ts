import { rawClient, type RawClient } from "../harness/raw-client.ts";
import type { ServiceUrls } from "./fill.ts";

const json = { accept: "application/json;odata=nometadata" };

/**
 * Everything of `fill` that clients can see, in every release and at any later time: without what
 * expires.
 */
export async function lookAtFilled(urls: ServiceUrls, prefix: string): Promise<object> {
  const blob = rawClient(urls.blob ?? "");
  const table = rawClient(urls.table ?? "");
  const queue = rawClient(urls.queue ?? "");
  const file = rawClient(urls.file ?? "");
  const container = `/${prefix}blobs`;
  return {
    blobs: await textOf(blob, `${container}?restype=container&comp=list&include=snapshots`, names),
    small: await textOf(blob, `${container}/small`),
    tags: await textOf(blob, `${container}/small?comp=tags`, strip),
    large: await textOf(blob, `${container}/large`, runs),
    composed: await textOf(blob, `${container}/composed`, runs),
    pages: await textOf(blob, `${container}/pages`, (text) => runs(text.slice(0, 2048))),
    gone: await textOf(blob, `${container}/gone`, () => ""),
    entities: await textOf(table, `/${prefix}table()`, texts),
    messages: await textOf(
      queue,
      `/${prefix}queue/messages?peekonly=true&numofmessages=32`,
      lasting,
    ),
    file: await textOf(file, `/${prefix}share/folder/file`, runs),
    listed: await textOf(file, `/${prefix}share?restype=directory&comp=list`, names),
  };
}

async function textOf(
  client: RawClient,
  path: string,
  read: (text: string) => unknown = (text) => text,
): Promise<unknown> {
  const { status, body } = await client.send({ method: "GET", path, headers: json });
  return { status, found: read(body.toString("latin1")) };
}

function names(xml: string): readonly string[] {
  return [...xml.matchAll(/<Name>(.*?)<\/Name>/g)].map(([, name = ""]) => name);
}

/** Even ones expire; the first ones have a held lease. */
function lasting(xml: string): readonly string[] {
  const found = [...xml.matchAll(/<MessageText>(\d+)<\/MessageText>/g)];
  return found
    .map(([, text = ""]) => text)
    .filter((text) => Number(text) > 4 && Number(text) % 2 > 0);
}

function strip(xml: string): string {
  return xml.replaceAll(/^[^<]*<\?xml[^>]*\?>/g, "");
}

/** Abbreviates runs of one character, as `300000 l`. */
function runs(text: string): readonly string[] {
  const found = [...text.matchAll(/(.)\1*/gs)].map(([run]) => run);
  return found.map((run) => `${run.length} ${run.startsWith("\0") ? "zero" : run.slice(0, 1)}`);
}

function texts(body: string): readonly string[] {
  const { value } = JSON.parse(body) as { value: readonly { RowKey: string; text: string }[] };
  return value.map(({ RowKey, text }) => `${RowKey}: ${text.length}`);
}
