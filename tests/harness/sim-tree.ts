import { expect } from "vitest";
import { simBlob, type SimBlob } from "./sim-blob.ts";
import type { SimResponse } from "./sim-service.ts";

export const block = { "x-ms-blob-type": "BlockBlob" };

export interface Listing {
  readonly names: readonly string[];
  readonly marker: string;
  readonly body: string;
}

/** A hierarchical account with one container, `ccc`; paths are below it. */
export class SimTree {
  readonly sim: SimBlob;

  private constructor(sim: SimBlob) {
    this.sim = sim;
  }

  static async open(): Promise<SimTree> {
    const sim = await simBlob({ hierarchicalNamespace: true });
    await sim.send({ method: "PUT", path: "/ccc?restype=container" });
    return new SimTree(sim);
  }

  put(path: string, body = "data", headers = {}): Promise<SimResponse> {
    return this.send("PUT", path, { ...block, ...headers }, body);
  }

  send(method: string, path: string, headers = {}, body = ""): Promise<SimResponse> {
    return this.sim.send({ method, path: `/ccc/${path}`, headers, body });
  }

  async list(query = ""): Promise<Listing> {
    const path = `/ccc?restype=container&comp=list${query}`;
    const { body, status } = await this.sim.send({ method: "GET", path });
    expect(status).toBe(200);
    const names = [...body.matchAll(/<Name>(.*?)<\/Name>/g)].map(([, name = ""]) => name);
    const marker = /<NextMarker>(.*?)<\/NextMarker>/.exec(body)?.[1] ?? "";
    return { names, marker, body };
  }

  async listPages(query: string, size: number): Promise<readonly (readonly string[])[]> {
    const pages: (readonly string[])[] = [];
    let marker = "";
    for (let page = 0; page < 100; page += 1) {
      const at = marker === "" ? "" : `&marker=${encodeURIComponent(marker)}`;
      const found = await this.list(`${query}&maxresults=${size}${at}`);
      pages.push(found.names);
      ({ marker } = found);
      if (marker === "") return pages;
    }
    throw new Error("a listing does not come to an end");
  }
}
