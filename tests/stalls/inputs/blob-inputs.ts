import {
  answersOf,
  expectStatus,
  isPresent,
  openSocket,
  requestText,
  storeMany,
  type AbusiveInput,
  type StallClients,
} from "./stall-client.ts";

const container = (name: string) => ({ method: "PUT", path: `/${name}?restype=container` });
const put = (path: string, body = "x", headers: Record<string, string> = {}) => ({
  method: "PUT",
  path,
  body,
  headers: { "x-ms-blob-type": "BlockBlob", ...headers },
});

const listed = 5000;
let containersDeleted = 0;
const metadata = Object.fromEntries(
  Array.from({ length: 10 }, (_, at) => [`x-ms-meta-name${at}`, "v".repeat(700)]),
);
const list = (path: string) => ({ method: "GET", path: `/listed?restype=container&${path}` });

const listings: readonly AbusiveInput[] = [
  {
    name: "List Blobs of 5,000",
    async prepare({ blob, server }) {
      await expectStatus(blob, 201, container("listed"));
      await storeMany(server.urls.blob, listed, (index) => {
        const tags = { "x-ms-tags": "a=1&b=2&c=3&d=4&e=5&f=6&g=7&h=8&i=9&j=10" };
        return put(`/listed/${index}/${"n".repeat(200)}`, "x", { ...metadata, ...tags });
      });
      return () => expectStatus(blob, 200, list("comp=list"));
    },
  },
  {
    name: "List Blobs of 5,000 with all they have",
    async prepare({ blob }) {
      const include = "metadata,tags,snapshots,versions,uncommittedblobs,copy,deleted";
      return () => expectStatus(blob, 200, list(`comp=list&include=${include}`));
    },
  },
  {
    name: "List Blobs of 5,000 prefixes",
    async prepare({ blob }) {
      return () => expectStatus(blob, 200, list("comp=list&delimiter=/"));
    },
  },
  {
    name: "List Blobs in Arrow form",
    async prepare({ blob }) {
      const headers = {
        accept: "application/vnd.apache.arrow.stream",
        "x-ms-version": "2026-02-06",
      };
      return () => expectStatus(blob, 200, { ...list("comp=list&include=metadata,tags"), headers });
    },
  },
  {
    name: "Find Blobs by Tags of 5,000",
    async prepare({ blob }) {
      const where = ["a='1'", "b='2'", "c='3'", "d='4'", "e='5'", "f='6'", "g='7'", "h='8'"];
      const text = encodeURIComponent(where.join(" AND "));
      const path = `/?comp=blobs&where=${text}`;
      return () => expectStatus(blob, 200, { method: "GET", path });
    },
  },
  {
    name: "Find Blobs by Tags with a long expression",
    async prepare({ blob }) {
      const where = Array.from({ length: 700 }, () => `"a">='0'`).join(" AND ");
      const path = `/?comp=blobs&where=${encodeURIComponent(where)}`;
      return () => blob.send({ method: "GET", path });
    },
  },
  {
    name: "Delete Container of 5,000 blobs",
    isPreparedAgain: true,
    async prepare({ blob, server }) {
      const path = "/listed?restype=container";
      if (await isPresent(blob, path)) {
        return () => expectStatus(blob, 202, { method: "DELETE", path });
      }
      // The first measurement has deleted it.
      containersDeleted += 1;
      const name = `listed-${containersDeleted}`;
      await expectStatus(blob, 201, container(name));
      await storeMany(server.urls.blob, listed, (index) => put(`/${name}/${index}`));
      return () => expectStatus(blob, 202, { ...container(name), method: "DELETE" });
    },
  },
];

const pagesMax = 10_000;
const pageAt = (index: number): string => `bytes=${index * 1024}-${index * 1024 + 511}`;

let arePagesCleared = false;

async function storePages({ server }: StallClients): Promise<void> {
  await storeMany(server.urls.blob, pagesMax, (index) => ({
    method: "PUT",
    path: "/pages/p?comp=page",
    headers: { "x-ms-page-write": "update", "x-ms-range": pageAt(index) },
    body: "x".repeat(512),
  }));
  arePagesCleared = false;
}

/** A page blob with a snapshot from before its pages were written. */
async function createPages(clients: StallClients): Promise<void> {
  const { blob } = clients;
  const headers = { "x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": "1073741824" };
  await expectStatus(blob, 201, { method: "PUT", path: "/pages/p", headers });
  await expectStatus(blob, 201, { method: "PUT", path: "/pages/p?comp=snapshot" });
  await storePages(clients);
}

/** A snapshot keeps the pages that the returned function clears. */
async function prepareClearPages(clients: StallClients): Promise<() => Promise<unknown>> {
  const { blob } = clients;
  if (arePagesCleared) await storePages(clients);
  await expectStatus(blob, 201, { method: "PUT", path: "/pages/p?comp=snapshot" });
  const headers = { "x-ms-page-write": "clear", "x-ms-range": "bytes=0-1073741823" };
  arePagesCleared = true;
  return () => expectStatus(blob, 201, { method: "PUT", path: "/pages/p?comp=page", headers });
}

const pages: readonly AbusiveInput[] = [
  {
    name: "Get Page Ranges of 10,000 fragments",
    async prepare(clients) {
      const { blob } = clients;
      await expectStatus(blob, 201, container("pages"));
      await createPages(clients);
      return () => expectStatus(blob, 200, { method: "GET", path: "/pages/p?comp=pagelist" });
    },
  },
  {
    name: "Get Page Ranges against a snapshot",
    async prepare({ blob }) {
      const { body } = await blob.send({
        method: "GET",
        path: "/pages?restype=container&comp=list&include=snapshots",
      });
      const at = /<Snapshot>([^<]+)</.exec(body.toString())?.[1] ?? "";
      const path = `/pages/p?comp=pagelist&prevsnapshot=${at}`;
      return () => expectStatus(blob, 200, { method: "GET", path });
    },
  },
  {
    name: "Get Blob of 10,000 fragments",
    async prepare({ blob }) {
      const headers = { range: `bytes=0-${pagesMax * 1024}` };
      return () => expectStatus(blob, 206, { method: "GET", path: "/pages/p", headers });
    },
  },
  {
    name: "Clear Pages over 10,000 fragments",
    isPreparedAgain: true,
    prepare: prepareClearPages,
  },
  {
    name: "Delete Blob with its snapshots of 10,000 fragments",
    isPreparedAgain: true,
    async prepare(clients) {
      const { blob } = clients;
      if (!(await isPresent(blob, "/pages/p"))) {
        await createPages(clients);
        const clearPages = await prepareClearPages(clients);
        await clearPages();
      }
      const headers = { "x-ms-delete-snapshots": "include" };
      return () => expectStatus(blob, 202, { method: "DELETE", path: "/pages/p", headers });
    },
  },
];

const connections: readonly AbusiveInput[] = [
  {
    name: "5,000 pipelined requests",
    isPreparedAgain: true,
    async prepare({ blob, server }) {
      await blob.send(container("piped"));
      await expectStatus(blob, 201, put("/piped/b"));
      // Warm-up: code that has not run before is several times slower.
      await storeMany(server.urls.blob, 1000, () => ({ method: "GET", path: "/piped/b" }));
      const socket = await openSocket(server.urls.blob);
      const one = requestText({ method: "GET", path: "/piped/b" });
      const all = Buffer.concat(Array.from({ length: 5000 }, () => one));
      return async () => {
        const answers = answersOf(socket, 5000);
        socket.write(all);
        await answers;
        socket.destroy();
      };
    },
  },
  {
    name: "5,000 pipelined writes",
    isPreparedAgain: true,
    async prepare({ server }) {
      const socket = await openSocket(server.urls.blob);
      const all = Buffer.concat(
        Array.from({ length: 5000 }, (_, at) => requestText(put(`/piped/${at}`, "x".repeat(100)))),
      );
      return async () => {
        const answers = answersOf(socket, 5000);
        socket.write(all);
        await answers;
        socket.destroy();
      };
    },
  },
  {
    name: "5,000 pipelined requests, then a disconnect",
    isPreparedAgain: true,
    async prepare({ server }) {
      const socket = await openSocket(server.urls.blob);
      const one = requestText({ method: "GET", path: "/piped/b" });
      const all = Buffer.concat(Array.from({ length: 5000 }, () => one));
      return () =>
        new Promise<void>((resolve) => {
          socket.write(all, () => {
            socket.destroy();
            resolve();
          });
        });
    },
  },
  {
    name: "a request with 30 kB of header lines",
    async prepare({ blob }) {
      const headers: Record<string, string> = { "x-ms-blob-type": "BlockBlob" };
      for (let at = 0; at < 900; at += 1) headers[`x-ms-meta-n${at}`] = "v";
      return () => blob.send({ method: "PUT", path: "/piped/headers", headers, body: "x" });
    },
  },
  {
    name: "a request with 30 kB of query",
    async prepare({ blob }) {
      const query = Array.from({ length: 5000 }, (_, at) => `a${at}=`).join("&");
      return () => blob.send({ method: "GET", path: `/piped/b?${query}` });
    },
  },
  {
    name: "a request with 30 kB of conditions",
    async prepare({ blob }) {
      const headers = { "if-match": Array.from({ length: 7000 }, () => '"a"').join(",") };
      return () => blob.send({ method: "GET", path: "/piped/b", headers });
    },
  },
  {
    name: "a condition on tags of 30 kB",
    async prepare({ blob }) {
      const headers = {
        "x-ms-if-tags": Array.from({ length: 2000 }, () => `"a" = '1'`).join(" AND "),
      };
      return () => blob.send({ method: "GET", path: "/piped/b", headers });
    },
  },
];

export const blobInputs: readonly AbusiveInput[] = [...connections, ...pages, ...listings];
