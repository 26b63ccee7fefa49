/** Scripts that run in the browser; strings, because tests have no DOM types. */

/** Records every text of the upload counter. */
export const noteCounts = `
  globalThis.seenCounts = new Set();
  new MutationObserver(() => {
    const text = document.querySelector(".uploads-count")?.textContent;
    if (text) globalThis.seenCounts.add(text.split(",")[0]);
  }).observe(document.body, { childList: true, subtree: true, characterData: true });
`;

export const notedCounts = `[...globalThis.seenCounts]`;

/** Shows the tables as soon as the page has rendered anything, before it is painted. */
export const changeAddressAtOnce = `
  new MutationObserver((_, observer) => {
    if (document.querySelector(".shell") === null) return;
    observer.disconnect();
    location.hash = "#/tables";
  }).observe(document, { childList: true, subtree: true });
`;

export const dropFile = `
  const transfer = new DataTransfer();
  transfer.items.add(new File(["dropped"], "dropped.txt", { type: "text/plain" }));
  for (const type of ["dragover", "drop"]) {
    const event = new DragEvent(type, { dataTransfer: transfer, bubbles: true });
    document.querySelector(".drop").dispatchEvent(event);
  }
`;

/** Whether the browser has a viewer for PDF. */
export const setPdfViewer = (isEnabled: boolean): string =>
  `Object.defineProperty(navigator, "pdfViewerEnabled", { value: ${isEnabled} });`;

/** Notes the type of the last content that the page has made a URL for. */
export const noteMadeType = `
  const create = URL.createObjectURL;
  URL.createObjectURL = (made) => {
    document.documentElement.dataset.made = made.type;
    return create(made);
  };
`;
