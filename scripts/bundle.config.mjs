// Vite's configuration for the program that is installed: the compiled modules of the server in a few
// files, because Node takes 0.5 s to load several hundred of them one by one.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const compiled = fileURLToPath(new URL("../dist", import.meta.url));

export default defineConfig({
  root: compiled,
  publicDir: false,
  // Packages stay where npm installs them.
  ssr: { external: true },
  build: {
    ssr: true,
    // As deep as the folders of `dist`: modules find `ui/dist` and package.json relative to themselves.
    outDir: join(compiled, "bundle"),
    target: "node20",
    minify: false,
    reportCompressedSize: false,
    rolldownOptions: {
      input: {
        index: join(compiled, "index.js"),
        main: join(compiled, "cli/main.js"),
        worker: join(compiled, "cli/worker.js"),
      },
      output: { entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" },
    },
  },
});
