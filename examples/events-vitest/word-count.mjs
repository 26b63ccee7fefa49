// A webhook for events of Event Grid: counts the words of each uploaded text.
import { createServer } from "node:http";

/** Resolves to the server, which listens on a free port. `handle` gets the URL of each blob. */
export async function startWordCount() {
  const webhook = { url: "", handle: async () => {}, close: () => {} };
  const server = createServer((request, response) => {
    void answer(request, (url) => webhook.handle(url)).then(({ status, body }) =>
      response.writeHead(status).end(body),
    );
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  webhook.url = `http://127.0.0.1:${server.address().port}/`;
  webhook.close = () => {
    server.closeAllConnections();
    server.close();
  };
  return webhook;
}

/** After a status of 500 the event is sent again. */
async function answer(request, handle) {
  try {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const [{ eventType, data }] = JSON.parse(Buffer.concat(chunks).toString());
    // The handshake, if the subscription is created while the server runs.
    if (eventType === "Microsoft.EventGrid.SubscriptionValidationEvent") {
      return { status: 200, body: JSON.stringify({ validationResponse: data.validationCode }) };
    }
    await handle(data.url);
    return { status: 200, body: "" };
  } catch (error) {
    return { status: 500, body: String(error) };
  }
}

/** Stores the number of words of a text. */
export async function countWords(service, url) {
  const name = decodeURIComponent(new URL(url).pathname.split("/").at(-1));
  const text = await service.getContainerClient("texts").getBlobClient(name).downloadToBuffer();
  const count = String(text.toString().split(/\s+/).filter(Boolean).length);
  await service.getContainerClient("counts").uploadBlockBlob(name, count, count.length);
}
