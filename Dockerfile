# docker build -t etagere:0.1.0 .
# docker run --read-only -v etagere:/data -p 10000-10004:10000-10004 -p 10445:10445 etagere:0.1.0
#
# The server writes only to /data, so that the root file system may be read-only: `--read-only`.
# docker-bake.hcl builds for several architectures. Podman: `podman build --format docker`, because
# the OCI format has no health check.
FROM --platform=$BUILDPLATFORM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build
# What the server needs at run time, with the native modules of the image's architecture.
ARG TARGETARCH
RUN cpu=$(echo "${TARGETARCH:-$(node -p process.arch)}" | sed s/amd64/x64/) \
  && npm ci --omit=dev --no-audit --no-fund --ignore-scripts --os=linux --cpu="$cpu" --libc=glibc
# All that is added to the image, so that nothing has to run on its architecture. Types are for
# programs that import the package. Scripts that start Azurite by one of its names start this
# server. /data is writable for every user, because `docker run --user` may name any.
RUN mkdir -p /image/opt/etagere/ui /image/usr/local/bin \
  && mv package.json README.md LICENSE node_modules bin dist /image/opt/etagere/ \
  && mv ui/dist /image/opt/etagere/ui/ \
  && find /image/opt/etagere -type f \( -name '*.d.ts' -o -name '*.d.cts' -o -name '*.d.mts' -o -name '*.map' \) -delete \
  && for name in etagere azurite azurite-blob azurite-queue azurite-table; do \
    ln -s /opt/etagere/bin/etagere "/image/usr/local/bin/$name"; \
  done \
  && install -d -m 1777 /volume/data

FROM node:24-bookworm-slim
ARG VERSION=0.1.0
ARG REVISION=
ARG CREATED=
LABEL org.opencontainers.image.title="Etagere" \
  org.opencontainers.image.description="An Azure-Storage-compatible server whose concurrency can be trusted" \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.url="https://github.com/etagere/etagere" \
  org.opencontainers.image.source="https://github.com/etagere/etagere" \
  org.opencontainers.image.documentation="https://github.com/etagere/etagere/blob/main/docs/guides/installing.md" \
  org.opencontainers.image.version="$VERSION" \
  org.opencontainers.image.revision="$REVISION" \
  org.opencontainers.image.created="$CREATED"
COPY --from=build /image/ /
COPY --from=build --chown=1000:1000 /volume/ /
ENV NODE_ENV=production
USER node
VOLUME /data
# Without --location the data folder is .etagere in the current folder.
WORKDIR /data
# Blob, queue, table, file, Data Lake and SMB. The explorer (10010) listens on the container's loopback
# address unless --adminHost says otherwise.
EXPOSE 10000 10001 10002 10003 10004 10445
# The address of the admin listener is in the data folder: --adminPort and --adminHost may differ.
# Without a data folder it is the default address.
HEALTHCHECK --interval=10s --timeout=10s --start-period=40s --start-interval=1s --retries=3 \
  CMD ["sh", "-c", "etagere status --ready --location /data 2>/dev/null || etagere status --ready"]
# Requests that run get ten seconds to finish.
STOPSIGNAL SIGTERM
CMD ["etagere", "--location", "/data", "--blobHost", "0.0.0.0", "--queueHost", "0.0.0.0", "--tableHost", "0.0.0.0", "--fileHost", "0.0.0.0", "--dfsHost", "0.0.0.0", "--smbHost", "0.0.0.0"]
